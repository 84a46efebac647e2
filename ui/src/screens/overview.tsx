// Overview: numbers by state over a period; the chart, a sentence and a table say the same.

import { useState } from "react";

import type { DayView } from "../bridge/generated/DayView";
import { useStatistics } from "../bridge/queries";
import { useCodeText, useFormat, useText } from "../i18n/text";
import { ProblemNote } from "../parts/notes";
import screen from "../parts/screen.module.css";
import { STATES, StateLabel, toneOf } from "../parts/state";
import type { Tone } from "../parts/state";
import css from "./overview.module.css";

const PERIODS = [1, 7, 30] as const;

/** Bottom to top. */
const STACK: Tone[] = ["done", "progress", "doubt", "quiet", "caution", "attention"];

export function Overview() {
  const text = useText();
  const [days, setDays] = useState<number>(7);
  const statistics = useStatistics(days);
  const all = statistics.data?.days ?? [];
  const totals = totalsOf(all);
  const sum = [...totals.values()].reduce((a, b) => a + b, 0);
  return (
    <>
      <header className={screen.header}>
        <h1>{text("nav.overview")}</h1>
        <div className={css.periods} role="group" aria-label={text("reports.period")}>
          {PERIODS.map((period) => (
            <button key={period} type="button" aria-pressed={days === period} onClick={() => setDays(period)}>
              {text("overview.period", { n: period })}
            </button>
          ))}
        </div>
      </header>
      <div className={screen.body}>
        {statistics.error && <ProblemNote problem={statistics.error} />}
        <p className={css.sentence}>
          {text("overview.sentence", {
            n: sum,
            days,
            completed: totals.get("completed") ?? 0,
            attention: (totals.get("failed") ?? 0) + (totals.get("rejected") ?? 0) + (totals.get("held") ?? 0),
          })}
        </p>
        <ul className={css.tiles}>
          {Object.keys(STATES)
            .filter((state) => totals.get(state))
            .map((state) => (
              <Tile key={state} state={state} count={totals.get(state) ?? 0} of={sum} />
            ))}
        </ul>
        {days > 1 && sum > 0 && (
          <section className={screen.card}>
            <h2>{text("overview.chart")}</h2>
            <Chart days={all} />
            <DayTable days={all} />
          </section>
        )}
      </div>
    </>
  );
}

function totalsOf(days: DayView[]): Map<string, number> {
  const totals = new Map<string, number>();
  for (const { byState } of days) {
    for (const [state, count] of Object.entries(byState)) totals.set(state, (totals.get(state) ?? 0) + count);
  }
  return totals;
}

function Tile({ state, count, of }: { state: string; count: number; of: number }) {
  const format = useFormat();
  return (
    <li className={css.tile}>
      <StateLabel state={state} size={16} />
      <span className={css.figure}>{format.number(count)}</span>
      <span className={css.share}>{Math.round((100 * count) / of)} %</span>
    </li>
  );
}

/** Drawing units; the style sheet scales them. */
const WIDTH = 900;
const HEIGHT = 190;
const BAR_MAX = 56;

function Chart({ days }: { days: DayView[] }) {
  const text = useText();
  const format = useFormat();
  const most = Math.max(1, ...days.map(({ byState }) => Object.values(byState).reduce((a, b) => a + b, 0)));
  const step = WIDTH / days.length;
  const bar = Math.min(BAR_MAX, step * 0.62);
  return (
    <svg
      className={css.chart}
      viewBox={`0 0 ${WIDTH} ${HEIGHT + 26}`}
      role="img"
      aria-label={text("overview.chart.label", { days: days.length, most })}
    >
      <line x1={0} x2={WIDTH} y1={HEIGHT} y2={HEIGHT} className={css.axis} />
      {days.map(({ date, byState }, at) => {
        let top = HEIGHT;
        const sum = Object.values(byState).reduce((a, b) => a + b, 0);
        const bars = STACK.map((tone) => {
          const count = Object.entries(byState).reduce((n, [state, k]) => (toneOf(state) === tone ? n + k : n), 0);
          const height = (count / most) * (HEIGHT - 20);
          top -= height;
          return (
            <rect key={tone} x={at * step + (step - bar) / 2} y={top} width={bar} height={height} className={css[tone]} />
          );
        });
        const middle = (at + 0.5) * step;
        return (
          <g key={date}>
            {bars}
            {sum > 0 && (
              <text x={middle} y={top - 6} className={css.value}>
                {format.number(sum)}
              </text>
            )}
            {(days.length < 10 || at % 5 === 0) && (
              <text x={middle} y={HEIGHT + 18} className={css.day}>
                {format.day(date)}
              </text>
            )}
          </g>
        );
      })}
    </svg>
  );
}

function DayTable({ days }: { days: DayView[] }) {
  const text = useText();
  const format = useFormat();
  const words = useCodeText();
  const states = Object.keys(STATES).filter((state) => days.some(({ byState }) => byState[state]));
  return (
    <details className={css.table}>
      <summary>{text("overview.table")}</summary>
      <div className={css.scroll}>
        <table>
          <thead>
            <tr>
              <th scope="col">{text("overview.day")}</th>
              {states.map((state) => (
                <th key={state} scope="col">
                  {words("state", state)}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {days.toReversed().map(({ date, byState }) => (
              <tr key={date}>
                <th scope="row">{format.date(`${date}T12:00:00`)}</th>
                {states.map((state) => (
                  <td key={state}>{format.number(byState[state] ?? 0)}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  );
}
