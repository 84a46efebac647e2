// Overview: the sentence of the morning, numbers by state, reports per day, what holds them up, and the daily
// statement. Each figure is a filter of the list; the chart, a sentence and a table say the same.

import { AlarmClock, FileText, Hourglass } from "lucide-react";
import { useState } from "react";

import type { AboutView } from "../bridge/generated/AboutView";
import type { ComplianceView } from "../bridge/generated/ComplianceView";
import type { DayView } from "../bridge/generated/DayView";
import type { DiseaseCountView } from "../bridge/generated/DiseaseCountView";
import type { ListQuery } from "../bridge/generated/ListQuery";
import type { PaceView } from "../bridge/generated/PaceView";
import type { State } from "../bridge/generated/State";
import type { StatisticsView } from "../bridge/generated/StatisticsView";
import type { Timeliness } from "../bridge/generated/Timeliness";
import { ALL, useRows, useStatistics } from "../bridge/queries";
import { keyOf } from "../causes";
import { useCodeText, useFormat, useText } from "../i18n/text";
import type { Text } from "../i18n/text";
import { Button, CopyButton } from "../kit/controls";
import { DayChart, instantsOf, isByWeek, medianOf, reportsOf, totalsByDay, weekBefore } from "../parts/day-chart";
import type { Totals } from "../parts/day-chart";
import { Deadline, useNow } from "../parts/deadline";
import { LostReports } from "../parts/lost";
import { headingOf, unsaidOf } from "../parts/said";
import { Notice, ReadProblem } from "../kit/notes";
import screen from "../kit/screen.module.css";
import { SaveTable } from "../parts/save-table";
import { NOT_CORRECTED, STATE_CODES, StateLabel } from "../parts/state";
import { Subject, diseaseOf } from "../parts/subject";
import { csv } from "../parts/table-text";
import { useWindow } from "../place";
import css from "./overview.module.css";
import { SILENCE_DAYS, silenceOf } from "./silence";
import { StatementDialog } from "./statement";

const PERIODS = [1, 7, 30, 365] as const;

export function Overview({ stating: asked }: { stating: boolean }) {
  const text = useText();
  const [days, setDays] = useState<number>(7);
  const [stating, setStating] = useState(asked);
  const statistics = useStatistics(days, useNow());
  const { data: view } = statistics;
  return (
    <>
      <header className={screen.header}>
        <h1>{text("nav.overview")}</h1>
        <div className={screen.tools}>
          <div className={css.periods} role="group" aria-label={text("reports.period")} data-testid="periods">
            {PERIODS.map((period) => (
              <button key={period} type="button" aria-pressed={days === period} onClick={() => setDays(period)}>
                {text("overview.period", { n: period })}
              </button>
            ))}
          </div>
          <Button icon={FileText} onPress={() => setStating(true)} data-testid="statement-open">
            {text("statement.title")}
          </Button>
        </div>
      </header>
      <div className={screen.body}>
        <ReadProblem of={statistics} />
        <LostReports />
        {view && <Figures view={view} />}
      </div>
      {stating && <StatementDialog onClose={() => setStating(false)} />}
    </>
  );
}

function Figures({ view }: { view: StatisticsView }) {
  const text = useText();
  const { days, causes, diseases } = view;
  // The week before the first bar: the same days are asked for by which silence is known.
  const month = useStatistics(SILENCE_DAYS, useNow());
  const known = totalsByDay([...(month.data?.days ?? []), ...days]);
  const totals = totalsOf(days);
  const sum = reportsOf(totals);
  return (
    <>
      <Sentence view={view} totals={totals} />
      <ReadProblem of={month} />
      <Silence />
      <ul className={css.tiles}>
        {STATE_CODES.filter((state) => totals[state]).map((state) => (
          <Tile key={state} state={state} count={totals[state] ?? 0} days={days} />
        ))}
      </ul>
      {days.length > 1 && sum > 0 && (
        <section className={screen.card}>
          <h2>{text(isByWeek(days) ? "overview.chart.weeks" : "overview.chart")}</h2>
          <DayChart days={days} known={known} />
          {days.some((day) => weekBefore({ first: day.date, last: day.date }, known)) && (
            <p className={css.more}>{text(isByWeek(days) ? "overview.before.weeks" : "overview.before")}</p>
          )}
          <DayTable days={days} known={known} />
        </section>
      )}
      <div className={css.cards}>
        {(causes.length > 0 || view.oldestOpen) && <HeldUp view={view} />}
        {diseases.length > 0 && <Diseases diseases={diseases} days={days} />}
        {view.deadlines && <Deadlines figures={view.deadlines} days={days} />}
      </div>
    </>
  );
}

function totalsOf(days: DayView[]): DayView["byState"] {
  const sum = (state: State) => days.reduce((n, { byState }) => n + (byState[state] ?? 0), 0);
  return Object.fromEntries(STATE_CODES.map((state) => [state, sum(state)]));
}

/** Reports below which a half of them, or 95 of 100, are no figures. */
const PACE_REPORTS = 5;

function paceOf({ median, p95, reports }: PaceView, text: Text, format: ReturnType<typeof useFormat>): string {
  const most = format.duration(p95);
  // Of so few, 95 of 100 are all of them.
  if (reports < PACE_REPORTS) return text("overview.pace.few", { n: reports, most });
  // Below twenty, 95 of 100 are all of them too.
  const areAll = Math.ceil(0.95 * reports) === reports;
  if (areAll && format.duration(median) === most) return text("overview.pace.same", { most });
  return text("overview.pace", { median: format.duration(median), most });
}

/** What was sent and what became of it, how long that took, and how it was before. */
function Sentence({ view, totals }: { view: StatisticsView; totals: DayView["byState"] }) {
  const text = useText();
  const format = useFormat();
  const { pace, days } = view;
  const [sum, before] = [reportsOf(totals), reportsOf(view.before)];
  const more = sum - before;
  const parts = [
    text("overview.sentence", {
      n: sum,
      days: days.length,
      completed: totals.completed ?? 0,
      attention: (totals.failed ?? 0) + (totals.rejected ?? 0) + (totals.held ?? 0),
    }),
    (totals.superseded ?? 0) > 0 && text("overview.replaced", { n: totals.superseded ?? 0 }),
    pace && paceOf(pace, text, format),
    before > 0 && text(more < 0 ? "overview.fewer" : "overview.more", { n: Math.abs(more), days: days.length }),
  ];
  return (
    <p className={`${css.sentence} selectable`} data-testid="overview-sentence">
      {parts.filter(Boolean).join(" ")}
    </p>
  );
}

/** Nothing came for longer than usual: perhaps a folder is no longer connected. */
function Silence() {
  const text = useText();
  // Where nothing comes, nothing else draws this anew.
  const now = useNow();
  const { data } = useStatistics(SILENCE_DAYS, now);
  const silence = data && silenceOf(data, now);
  if (!silence) return null;
  return <Notice tone="caution" title={text("overview.silence", { hours: silence.hours, n: silence.usual })} />;
}

function Tile({ state, count, days }: { state: State; count: number; days: DayView[] }) {
  const format = useFormat();
  const { go } = useWindow();
  const [first, last] = [days[0]?.date, days.at(-1)?.date];
  if (!first || !last) return null;
  const only = { ...instantsOf(first, last), states: [state] };
  return (
    <li>
      <button
        type="button"
        className={css.tile}
        onClick={() => go({ screen: "reports", group: null, open: null, only })}
        data-testid={`tile-${state}`}
      >
        <StateLabel state={state} size={16} />
        <span className={css.figure}>{format.number(count)}</span>
      </button>
    </li>
  );
}

/** Of what the authority has not taken the report with the least time left. */
const MOST_URGENT: ListQuery = {
  ...ALL,
  states: ["held", "queued", "sending", "unknown", "rejected", "failed"],
  sort: "deadline",
  ascending: true,
  before: null,
  limit: 1,
};

/** Why reports need a person, and the one that has been on its way for the longest time. */
function HeldUp({ view }: { view: StatisticsView }) {
  const text = useText();
  const format = useFormat();
  const words = useCodeText();
  const { go, reveal } = useWindow();
  const { causes, oldestOpen } = view;
  const mostUrgent = useRows(MOST_URGENT);
  const [urgent] = mostUrgent.data?.rows ?? [];
  const now = useNow();
  return (
    <section className={screen.card} data-testid="overview-causes">
      <h2>{text("overview.held-up")}</h2>
      <ReadProblem of={mostUrgent} />
      <ul className={css.lines}>
        {causes.map(({ message, state, takenBack, count }, at) => (
          <li key={at}>
            <button
              type="button"
              className={css.line}
              onClick={() => go({ screen: "correct", open: null, cause: keyOf({ message, state, takenBack }) })}
            >
              <strong className={css.number}>{format.number(count)}</strong>
              <span>{message ? headingOf(text, message, !reveal) : unsaidOf(text, words, { state, takenBack })}</span>
            </button>
          </li>
        ))}
        {urgent?.due && (
          <li>
            <button
              type="button"
              className={css.line}
              onClick={() => go({ screen: "reports", group: null, open: urgent.id })}
              data-testid="next-deadline"
            >
              <AlarmClock aria-hidden size={16} />
              <span className={css.oldest}>
                {text(Date.parse(urgent.due) < now ? "overview.deadline.overdue" : "overview.deadline")}
                <Subject about={urgent} otherwise={urgent.file} />
                <Deadline due={urgent.due} />
              </span>
            </button>
          </li>
        )}
        {oldestOpen && (
          <li>
            <button
              type="button"
              className={css.line}
              onClick={() => go({ screen: "reports", group: null, open: oldestOpen.id })}
              data-testid="oldest-open"
            >
              <Hourglass aria-hidden size={16} />
              <span className={css.oldest}>
                {text("overview.oldest", { time: format.moment(oldestOpen.created) })}
                <Subject about={oldestOpen} otherwise={oldestOpen.file} />
              </span>
            </button>
          </li>
        )}
      </ul>
    </section>
  );
}

/** How many reports kept their deadline, and which have not been with the authority yet. */
function Deadlines({ figures, days }: { figures: ComplianceView; days: DayView[] }) {
  const text = useText();
  const format = useFormat();
  const { go } = useWindow();
  const [first = "", last = ""] = [days[0]?.date, days.at(-1)?.date];
  const { kept, late, overdue, running } = figures;
  const lines: { timeliness: Timeliness; count: number }[] = [
    { timeliness: "kept", count: kept },
    { timeliness: "late", count: late },
    { timeliness: "overdue", count: overdue },
    { timeliness: "running", count: running },
  ];
  const sum = kept + late + overdue + running;
  return (
    <section className={screen.card} data-testid="overview-deadlines">
      <h2>{text("deadlines.title")}</h2>
      <p>{text("overview.deadlines.sentence", { n: sum, kept, late, overdue })}</p>
      <ul className={css.lines}>
        {lines
          .filter(({ count }) => count > 0)
          .map(({ timeliness, count }) => (
            <li key={timeliness}>
              <button
                type="button"
                className={css.line}
                onClick={() =>
                  go({
                    screen: "reports",
                    group: null,
                    open: null,
                    only: { ...instantsOf(first, last), states: [], timeliness },
                  })
                }
              >
                <strong className={css.number}>{format.number(count)}</strong>
                <span className={css.share}>
                  {text(`overview.deadlines.${timeliness}`)}
                  <span aria-hidden className={css.meter} style={{ width: `${(100 * count) / sum}%` }} />
                </span>
              </button>
            </li>
          ))}
      </ul>
    </section>
  );
}

function Diseases({ diseases, days }: { diseases: DiseaseCountView[]; days: DayView[] }) {
  const text = useText();
  const format = useFormat();
  const { go } = useWindow();
  const most = Math.max(...diseases.map(({ count }) => count));
  const [first = "", last = ""] = [days[0]?.date, days.at(-1)?.date];
  return (
    <section className={screen.card} data-testid="overview-diseases">
      <h2>{text("overview.diseases")}</h2>
      <ul className={css.lines}>
        {diseases.map(({ disease, subject, count }) => {
          const about = { disease, subject } as AboutView;
          const name = diseaseOf(text, about) ?? text("overview.disease.none");
          const only = { ...instantsOf(first, last), states: NOT_CORRECTED, about };
          return (
            <li key={`${disease} ${subject}`}>
              <button
                type="button"
                className={css.line}
                onClick={() => go({ screen: "reports", group: null, open: null, only })}
              >
                <strong className={css.number}>{format.number(count)}</strong>
                <span className={css.share}>
                  {name}
                  <span aria-hidden className={css.meter} style={{ width: `${(100 * count) / most}%` }} />
                </span>
              </button>
            </li>
          );
        })}
      </ul>
    </section>
  );
}

function DayTable({ days, known }: { days: DayView[]; known: Totals }) {
  const text = useText();
  const format = useFormat();
  const words = useCodeText();
  const states = STATE_CODES.filter((state) => days.some(({ byState }) => byState[state]));
  const before = (date: string) => weekBefore({ first: date, last: date }, known);
  const median = medianOf(days);
  const asText = () =>
    csv([
      [text("overview.day"), ...states.map((state) => words("state", state)), text("overview.week-before")],
      ...days.map(({ date, byState }) => [date, ...states.map((state) => byState[state] ?? 0), before(date) ?? null]),
    ]);
  return (
    <details className={css.table}>
      <summary>{text("overview.table")}</summary>
      <CopyButton label={text("overview.csv")} value={asText} data-testid="copy-csv" />
      <SaveTable table={asText} data-testid="save-csv" />
      <div className={css.scroll}>
        <table>
          {median !== undefined && <caption>{text("overview.median", { n: format.number(median) })}</caption>}
          <thead>
            <tr>
              <th scope="col">{text("overview.day")}</th>
              {states.map((state) => (
                <th key={state} scope="col">
                  {words("state", state)}
                </th>
              ))}
              <th scope="col">{text("overview.week-before")}</th>
            </tr>
          </thead>
          <tbody>
            {days.toReversed().map(({ date, byState }) => (
              <tr key={date}>
                <th scope="row">{format.date(date)}</th>
                {states.map((state) => (
                  <td key={state}>{format.number(byState[state] ?? 0)}</td>
                ))}
                <td>{((past) => (past === undefined ? "–" : format.number(past)))(before(date))}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  );
}
