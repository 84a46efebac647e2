// Reports that need a person, grouped by cause: code, and text with its values masked.

import type { Action } from "./bridge/generated/Action";
import type { MessageView } from "./bridge/generated/MessageView";
import type { RowView } from "./bridge/generated/RowView";
import type { State } from "./bridge/generated/State";
import type { TakenBack } from "./bridge/generated/TakenBack";
import { mayBeThere } from "./parts/held";

export interface Cause {
  key: string;
  /** Message of the newest report; `null` where none was given. */
  message: MessageView | null;
  state: State;
  takenBack: TakenBack | null;
  rows: RowView[];
  /** ISO instants. */
  first: string;
  last: string;
  laboratories: string[];
}

/** The same words for every report: what is quoted and what has digits is a value. */
export function masked(text: string): string {
  return text
    .replace(/(["'“«„]).*?(["'”»“])/gu, "…")
    .replace(/\S*\d\S*/gu, "…")
    .replace(/(…[\s,.;:]*)+/gu, "… ")
    .trim();
}

/** What a person is to act on: a new report that was taken back only has to be let go, whatever it was warned of. */
export const actedOn = ({ message, takenBack }: Pick<RowView, "message" | "takenBack">): MessageView | null =>
  takenBack === "new" && !mayBeThere(message) ? null : message;

/** By it a cause is told from others: that of a report, or of what was counted with such a message. */
export function keyOf({ state, takenBack, ...row }: Pick<RowView, "message" | "state" | "takenBack">): string {
  const message = actedOn({ takenBack, ...row });
  // What was taken back lies beside nothing that is still to be corrected.
  if (!message) return takenBack ? `taken-back ${takenBack}` : `state ${state}`;
  const path = message.expression?.replace(/\[\d+\]/g, "") ?? "";
  return [message.source, message.rule ?? message.code, masked(message.text ?? ""), path].join(" ");
}

/** The most frequent first. */
export function causesOf(rows: RowView[]): Cause[] {
  const causes = new Map<string, Cause>();
  for (const row of rows) {
    const key = keyOf(row);
    const known = causes.get(key);
    const laboratory = row.laboratory ? [row.laboratory] : [];
    if (known) {
      known.rows.push(row);
      if (row.updated < known.first) known.first = row.updated;
      if (row.updated > known.last) known.last = row.updated;
      known.laboratories = [...new Set([...known.laboratories, ...laboratory])];
    } else {
      const { state, takenBack, updated } = row;
      const message = actedOn(row);
      const times = { first: updated, last: updated };
      causes.set(key, { key, message, state, takenBack, rows: [row], ...times, laboratories: laboratory });
    }
  }
  return [...causes.values()].toSorted((a, b) => b.rows.length - a.rows.length || b.last.localeCompare(a.last));
}

/** Whether it only has to be let go: it was taken back before it left. */
export const isTakenBack = ({ takenBack, actions, message }: RowView): boolean =>
  takenBack !== null && actions.includes("release") && !mayBeThere(message);

/** Whether nothing is wrong with its reports: they were taken back before any version of them was sent. */
export const isCalm = ({ message, takenBack }: Cause): boolean => message === null && takenBack === "new";

/** Which reports of a cause can be sent again unchanged, which after all, which with a reason, and which left unsent. A
 *  report in doubt is none of it: it is being verified. */
export function offered(cause: Cause): { again: number[]; back: number[]; release: number[]; never: number[] } {
  const permitting = (action: Action) => cause.rows.filter((row) => row.actions.includes(action)).map((row) => row.id);
  const back = cause.rows.filter(isTakenBack).map((row) => row.id);
  const release = permitting("release").filter((id) => !back.includes(id));
  return { again: permitting("resubmit"), back, release, never: permitting("withdraw") };
}

/** Days that a picture of a cause shows. */
const DAYS = 14;

/** How many of its reports came in on each of the last days, today last. */
export function daysOf(cause: Cause, now: Date): number[] {
  const counts = Array.from({ length: DAYS }, () => 0);
  const dayOf = (date: Date) =>
    Math.round(new Date(date.getFullYear(), date.getMonth(), date.getDate()).getTime() / DAY_MS);
  const today = dayOf(now);
  for (const { created } of cause.rows) {
    const at = DAYS - 1 - (today - dayOf(new Date(created)));
    if (at in counts) counts[at] = (counts[at] ?? 0) + 1;
  }
  return counts;
}

const DAY_MS = 86_400_000;

/** The report of a cause that came in first. */
export function firstOf({ rows }: Cause): number {
  const older = (a: RowView, b: RowView) => (b.created < a.created || (b.created === a.created && b.id < a.id) ? b : a);
  return rows.reduce(older).id;
}
