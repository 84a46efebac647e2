// Reports per day (or week) as bars of their states; each bar is a filter of the list. The table below has the same.

import { useMemo } from "react";

import type { DayView } from "../bridge/generated/DayView";
import { useCodeText, useFormat, useText } from "../i18n/text";
import { useWindow } from "../place";
import css from "./day-chart.module.css";
import { NOT_CORRECTED, STATE_CODES, toneOf } from "./state";
import type { Tone } from "../kit/notes";

/** Bottom to top. */
const STACK: Tone[] = ["done", "progress", "doubt", "quiet", "caution", "attention"];

/** More bars than this are drawn by week. */
const BARS_MAX = 31;
const DAY_MS = 86_400_000;

export interface Span {
  /** First and last day, `YYYY-MM-DD`. */
  first: string;
  last: string;
  byState: DayView["byState"];
}

/** All that was taken in. */
export const sumOf = (byState: DayView["byState"]): number => Object.values(byState).reduce((a, b) => a + b, 0);

/** How many reports, each counted once: a correction stands for what it corrects. */
export const reportsOf = (byState: DayView["byState"]): number => sumOf(byState) - (byState.superseded ?? 0);

/** Whether a bar is a week. */
export const isByWeek = (days: DayView[]): boolean => days.length > BARS_MAX;

/** Days as they are, or seven to a bar; the newest bar always ends today. */
export function spansOf(days: DayView[]): Span[] {
  const size = isByWeek(days) ? 7 : 1;
  const spans: Span[] = [];
  for (let end = days.length; end > 0; end -= size) {
    const part = days.slice(Math.max(0, end - size), end);
    const byState: DayView["byState"] = {};
    for (const day of part) {
      for (const state of STATE_CODES)
        if (day.byState[state]) byState[state] = (byState[state] ?? 0) + day.byState[state];
    }
    spans.unshift({ first: part[0]?.date ?? "", last: part.at(-1)?.date ?? "", byState });
  }
  return spans;
}

/** Reports on each day, by its date. */
export type Totals = ReadonlyMap<string, number>;

export const totalsByDay = (days: DayView[]): Totals => new Map(days.map((day) => [day.date, reportsOf(day.byState)]));

/** Reports in the same days of the week before; nothing where one of them is not known. */
export function weekBefore({ first, last }: { first: string; last: string }, totals: Totals): number | undefined {
  const noon = (date: string) => Date.parse(`${date}T12:00:00Z`);
  let sum = 0;
  for (let day = noon(first); day <= noon(last); day += DAY_MS) {
    const before = totals.get(new Date(day - 7 * DAY_MS).toISOString().slice(0, 10));
    if (before === undefined) return undefined;
    sum += before;
  }
  return sum;
}

/** Days with reports below which a median says nothing of a usual day. */
const MEDIAN_DAYS = 7;

/** Reports on a usual day: the median of the days that have any, for a laboratory may be closed on the others. Nothing
 *  where those are too few. */
export function medianOf(days: DayView[]): number | undefined {
  const sums = days
    .map((day) => reportsOf(day.byState))
    .filter((sum) => sum > 0)
    .toSorted((a, b) => a - b);
  if (sums.length < MEDIAN_DAYS) return undefined;
  const [low = 0, high = 0] = [sums[Math.ceil(sums.length / 2) - 1], sums[Math.floor(sums.length / 2)]];
  return (low + high) / 2;
}

/** The beginning of a day where the reader is, and of the day after another, as instants. */
export function instantsOf(first: string, last: string): { since: string; until: string } {
  const end = new Date(`${last}T00:00:00`);
  end.setDate(end.getDate() + 1);
  return { since: new Date(`${first}T00:00:00`).toISOString(), until: end.toISOString() };
}

/** How often a label's place, counted from the newest one, can be halved: where room is short, the odd ones go first. */
const halves = (place: number): 0 | 1 | 2 => (place % 2 !== 0 ? 0 : place % 4 !== 0 ? 1 : 2);

export function DayChart({ days, known }: { days: DayView[]; known: Totals }) {
  const text = useText();
  const format = useFormat();
  const words = useCodeText();
  const { go } = useWindow();
  const spans = useMemo(() => spansOf(days), [days]);
  const before = spans.map((span) => weekBefore(span, known));
  const most = Math.max(1, ...spans.map(({ byState }) => reportsOf(byState)), ...before.map((sum) => sum ?? 0));
  const every = Math.ceil(spans.length / 10);
  const isFew = spans.length < 10;
  // A bar that is a week is not measured by a day.
  const median = isByWeek(days) ? undefined : medianOf(days);
  const named = ({ first, last }: Span) =>
    first === last ? format.date(first) : `${format.shortDate(first)} – ${format.shortDate(last)}`;
  return (
    <div className={css.room}>
      <div className={`${css.framed} ${isFew ? css.few : css.many}`}>
        <ol
          className={css.chart}
          aria-label={text(isByWeek(days) ? "overview.chart.weeks" : "overview.chart")}
          data-testid="chart"
        >
          {spans.map((span, at) => {
            const { first, last, byState } = span;
            const sum = reportsOf(byState);
            const parts = NOT_CORRECTED.filter((state) => byState[state]);
            const said = parts
              .map((state) => `${words("state", state)} ${format.number(byState[state] ?? 0)}`)
              .join(", ");
            const half = halves((spans.length - 1 - at) / every);
            const past = before[at];
            const label = [
              text("overview.bar", { day: named(span), n: sum, states: said }),
              past !== undefined && text("overview.bar.before", { n: past }),
            ]
              .filter(Boolean)
              .join(" ");
            return (
              <li key={first} data-half={half}>
                <button
                  type="button"
                  className={css.bar}
                  aria-label={label}
                  title={label}
                  onClick={() =>
                    go({
                      screen: "reports",
                      group: null,
                      open: null,
                      only: { ...instantsOf(first, last), states: NOT_CORRECTED },
                    })
                  }
                >
                  {past !== undefined && past > 0 && (
                    <span
                      className={css.before}
                      style={{ bottom: `${(100 * past) / most}%` }}
                      data-testid="week-before"
                    />
                  )}
                  <span className={css.value}>{sum > 0 && spans.length < 15 ? format.number(sum) : ""}</span>
                  <span className={css.stack} style={{ height: `${(100 * sum) / most}%` }}>
                    {STACK.map((tone) => {
                      const count = parts.reduce(
                        (n, state) => (toneOf(state) === tone ? n + (byState[state] ?? 0) : n),
                        0,
                      );
                      return count > 0 && <span key={tone} className={css[tone]} style={{ flexGrow: count }} />;
                    })}
                  </span>
                </button>
                <span className={css.day} data-half={half} aria-hidden>
                  {(spans.length - 1 - at) % every === 0 ? (isFew ? format.day(first) : format.shortDate(first)) : ""}
                </span>
              </li>
            );
          })}
        </ol>
        {median !== undefined && (
          <Median share={median / most} label={text("overview.median", { n: format.number(median) })} />
        )}
      </div>
    </div>
  );
}

/** A line across the bars, and its label beside them, where it hides none. */
function Median({ share, label }: { share: number; label: string }) {
  const height = `${100 * share}%`;
  return (
    <>
      <div className={css.over} aria-hidden>
        <span className={css.median} style={{ height }} />
      </div>
      <div className={css.beside}>
        <p data-testid="median">{label}</p>
        <span style={{ height }} />
      </div>
    </>
  );
}
