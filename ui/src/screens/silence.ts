// Whether nothing has come for longer than usual: perhaps a folder is no longer connected.

import type { DayView } from "../bridge/generated/DayView";
import type { StatisticsView } from "../bridge/generated/StatisticsView";
import { sumOf } from "../parts/day-chart";

/** Hours without a report after which a laboratory that reports daily is asked about it. */
const QUIET_HOURS = 24;
/** Days that are looked at, with today: four times each day of the week. */
export const SILENCE_DAYS = 29;
/** Times that a day of the week has to come by without a report before it counts as a day of rest. */
const RESTS = 2;
const HOUR_MS = 3_600_000;

export interface Silence {
  hours: number;
  /** Reports on a day on which some come, on average. */
  usual: number;
}

/** Since when nothing came, where that is longer than usual. Hours of days on which none ever comes, as of a weekend, are no
 *  silence. */
export function silenceOf({ days, lastReceived }: StatisticsView, now: number): Silence | undefined {
  const last = lastReceived ? Date.parse(lastReceived) : undefined;
  if (last === undefined) return undefined;
  const before = days.slice(0, -1);
  const resting = restingOf(before, last);
  const working = before.filter((day) => !resting.has(weekday(day)));
  const usual = Math.round(working.reduce((n, day) => n + sumOf(day.byState), 0) / Math.max(1, working.length));
  const hours = Math.floor((now - last) / HOUR_MS);
  if (usual === 0 || hours < QUIET_HOURS) return undefined;
  const quiet = Array.from({ length: Math.min(hours, SILENCE_DAYS * 24) }, (_, at) => new Date(last + at * HOUR_MS));
  return quiet.filter((hour) => !resting.has(hour.getDay())).length < QUIET_HOURS ? undefined : { hours, usual };
}

/** Days of the week on which no report ever came while some came on others, 0 for Sunday. Days since the last report say
 *  nothing of that. */
function restingOf(days: DayView[], last: number): Set<number> {
  const first = days.findIndex((day) => sumOf(day.byState) > 0);
  const known = first < 0 ? [] : days.slice(first).filter((day) => noon(day).getTime() < last);
  const of = (at: number) => known.filter((day) => weekday(day) === at);
  const rests = (at: number) => of(at).length >= RESTS && of(at).every((day) => sumOf(day.byState) === 0);
  return new Set([0, 1, 2, 3, 4, 5, 6].filter(rests));
}

const noon = ({ date }: DayView): Date => new Date(`${date}T12:00:00`);

const weekday = (day: DayView): number => noon(day).getDay();
