// Reports per day (or week) as bars of their states; each bar is a filter of the list. The table below has the same.

import { useMemo } from "react";

import type { DayView } from "../bridge/generated/DayView";
import { useCodeText, useFormat, useText } from "../i18n/text";
import { useWindow } from "../place";
import css from "./day-chart.module.css";
import { STATE_CODES, toneOf } from "./state";
import type { Tone } from "../kit/notes";

/** Bottom to top. */
const STACK: Tone[] = ["done", "progress", "doubt", "quiet", "caution", "attention"];

/** More bars than this are drawn by week. */
const BARS_MAX = 31;

export interface Span {
  /** First and last day, `YYYY-MM-DD`. */
  first: string;
  last: string;
  byState: DayView["byState"];
}

export const sumOf = (byState: DayView["byState"]): number => Object.values(byState).reduce((a, b) => a + b, 0);

/** Days as they are, or seven to a bar; the newest bar always ends today. */
export function spansOf(days: DayView[]): Span[] {
  const size = days.length > BARS_MAX ? 7 : 1;
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

/** The beginning of a day where the reader is, and of the day after another, as instants. */
export function instantsOf(first: string, last: string): { since: string; until: string } {
  const end = new Date(`${last}T00:00:00`);
  end.setDate(end.getDate() + 1);
  return { since: new Date(`${first}T00:00:00`).toISOString(), until: end.toISOString() };
}

export function DayChart({ days }: { days: DayView[] }) {
  const text = useText();
  const format = useFormat();
  const words = useCodeText();
  const { go } = useWindow();
  const spans = useMemo(() => spansOf(days), [days]);
  const most = Math.max(1, ...spans.map(({ byState }) => sumOf(byState)));
  const every = Math.ceil(spans.length / 10);
  const named = ({ first, last }: Span) =>
    first === last ? format.date(first) : `${format.shortDate(first)} – ${format.shortDate(last)}`;
  return (
    <ol className={css.chart} aria-label={text("overview.chart")} data-testid="chart">
      {spans.map((span, at) => {
        const { first, last, byState } = span;
        const sum = sumOf(byState);
        const parts = STATE_CODES.filter((state) => byState[state]);
        const said = parts.map((state) => `${words("state", state)} ${format.number(byState[state] ?? 0)}`).join(", ");
        const label = text("overview.bar", { day: named(span), n: sum, states: said });
        return (
          <li key={first}>
            <button
              type="button"
              className={css.bar}
              aria-label={label}
              title={label}
              onClick={() =>
                go({ screen: "reports", group: null, open: null, only: { ...instantsOf(first, last), states: [] } })
              }
            >
              <span className={css.value}>{sum > 0 && spans.length < 15 ? format.number(sum) : ""}</span>
              <span className={css.stack} style={{ height: `${(100 * sum) / most}%` }}>
                {STACK.map((tone) => {
                  const count = parts.reduce((n, state) => (toneOf(state) === tone ? n + (byState[state] ?? 0) : n), 0);
                  return count > 0 && <span key={tone} className={css[tone]} style={{ flexGrow: count }} />;
                })}
              </span>
            </button>
            <span className={css.day} aria-hidden>
              {(spans.length - 1 - at) % every === 0
                ? spans.length < 10
                  ? format.day(first)
                  : format.shortDate(first)
                : ""}
            </span>
          </li>
        );
      })}
    </ol>
  );
}
