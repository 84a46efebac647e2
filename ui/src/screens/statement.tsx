// The daily statement: what was taken in on a day and what became of it, to print or to keep. It names no patient.

import { ChevronLeft, ChevronRight, FileDown, Printer } from "lucide-react";
import { useState } from "react";
import { createPortal } from "react-dom";

import type { State } from "../bridge/generated/State";
import type { StatementEntryView } from "../bridge/generated/StatementEntryView";
import type { StatementView } from "../bridge/generated/StatementView";
import { useCommand, useStatement } from "../bridge/queries";
import { endpointName, useCodeText, useFormat, useText, useWords } from "../i18n/text";
import type { Text, TextId } from "../i18n/text";
import { Button, CopyButton } from "../kit/controls";
import { Dialog } from "../kit/dialog";
import { Notice, ReadProblem } from "../kit/notes";
import { say, sayProblem } from "../kit/toasts";
import { SaveTable } from "../parts/save-table";
import { STATE_CODES } from "../parts/state";
import { csv } from "../parts/table-text";
import css from "./statement.module.css";

/** The date of a day where the reader is, `YYYY-MM-DD`. */
function dateOf(day: Date): string {
  const two = (n: number) => String(n).padStart(2, "0");
  return `${day.getFullYear()}-${two(day.getMonth() + 1)}-${two(day.getDate())}`;
}

function shifted(date: string, days: number): string {
  const day = new Date(`${date}T12:00:00`);
  day.setDate(day.getDate() + days);
  return dateOf(day);
}

export function StatementDialog({ onClose }: { onClose: () => void }) {
  const text = useText();
  const format = useFormat();
  const [today] = useState(() => dateOf(new Date()));
  const [date, setDate] = useState(today);
  const stated = useStatement(date);
  const { data: view } = stated;
  const { language } = useWords();
  const save = useCommand("save_statement", {
    onDone: (saved) => saved && say({ tone: "done", title: text("statement.saved") }),
  });
  return (
    <Dialog
      title={text("statement.title")}
      size="large"
      onClose={onClose}
      footer={
        view && (
          <Button
            tone="primary"
            icon={FileDown}
            isPending={save.isPending}
            onPress={() => save.mutate({ date, language }, { onError: sayProblem(text) })}
            data-testid="statement-pdf"
          >
            {text("statement.pdf")}
          </Button>
        )
      }
    >
      <div className={css.days}>
        <Button
          tone="quiet"
          icon={ChevronLeft}
          label={text("statement.before")}
          onPress={() => setDate(shifted(date, -1))}
        />
        <strong aria-live="polite">{format.date(date)}</strong>
        <Button
          tone="quiet"
          icon={ChevronRight}
          label={text("statement.after")}
          isDisabled={date >= today}
          onPress={() => setDate(shifted(date, 1))}
        />
        {view && (
          // Not below, where in a small window they would leave the statement no room.
          <div className={css.files}>
            <CopyButton label={text("overview.csv")} value={() => csv(linesOf(view))} data-testid="statement-csv" />
            <SaveTable table={() => csv(linesOf(view))} data-testid="statement-save-csv" />
            <Button tone="quiet" icon={Printer} onPress={() => globalThis.print()} data-testid="statement-print">
              {text("statement.print")}
            </Button>
          </div>
        )}
      </div>
      <ReadProblem of={stated} />
      {view && <Sheet view={view} />}
      {/* Paper gets the sheet alone, outside of the window. */}
      {view &&
        createPortal(
          <div className="printed" aria-hidden>
            <Sheet view={view} />
          </div>,
          document.body,
        )}
    </Dialog>
  );
}

function Sheet({ view }: { view: StatementView }) {
  const text = useText();
  const format = useFormat();
  const words = useCodeText();
  const { entries, date, made, chainEvent, chainHash, version, isCut } = view;
  const among = (state: State) => entries.filter((entry) => entry.state === state).length;
  const corrections = entries.filter(({ corrects }) => corrects !== null).length;
  const outcome = STATE_CODES.filter((state) => among(state) > 0)
    .map((state) => `${words("state", state)} (${format.number(among(state))})`)
    .join(" · ");
  return (
    <article className={`${css.sheet} selectable`} data-testid="statement">
      <h3>{text("statement.heading", { date: format.date(date) })}</h3>
      <p>{text("statement.sum", { n: entries.length })}</p>
      {corrections > 0 && (
        <p data-testid="statement-corrections">{text("statement.corrections", { n: corrections })}</p>
      )}
      <p data-testid="statement-outcome">{outcome}</p>
      {isCut && <Notice tone="caution" title={text("statement.cut", { n: entries.length })} />}
      <ol className={css.entries}>
        {entries.map((entry) => (
          <Entry key={entry.id} entry={entry} />
        ))}
      </ol>
      <footer className={css.proof}>
        <p>{text("statement.chain", { event: chainEvent })}</p>
        <code>{chainHash}</code>
        <p>{text("statement.made", { time: format.exact(made), version })}</p>
      </footer>
    </article>
  );
}

/** The authority and what it is for, said once where both are one. */
function placeOf(text: Text, { endpoint }: StatementEntryView, environment: string): string {
  const name = endpointName(text, endpoint);
  return name === environment ? name : `${name} (${environment})`;
}

function Entry({ entry }: { entry: StatementEntryView }) {
  const text = useText();
  const format = useFormat();
  const words = useCodeText();
  const time = (instant: string | null) => instant && format.exact(instant);
  const facts: [TextId, string | null][] = [
    ["statement.created", time(entry.created)],
    ["statement.sent", time(entry.sent)],
    ["statement.answered", time(entry.answered)],
    ["statement.endpoint", placeOf(text, entry, words("environment", entry.environment))],
    ["statement.document", entry.documentIdentifier],
    ["statement.identifier", entry.identifier],
    ["statement.digest", entry.digest],
    ["statement.receipt", entry.receipt],
    [
      "statement.answer-digest",
      entry.answerDigest && `${entry.answerDigest}${entry.answerStatus ? ` (HTTP ${entry.answerStatus})` : ""}`,
    ],
  ];
  const disease = entry.disease && text.code(`disease.${entry.disease}`);
  return (
    <li className={css.entry}>
      <h4>
        {entry.id} · {[disease, entry.code].filter(Boolean).join(", ")} · {words("state", entry.state)}
        {entry.corrects !== null && ` · ${text("statement.corrects", { id: entry.corrects })}`}
      </h4>
      <dl>
        {facts.map(
          ([name, value]) =>
            value && (
              <div key={name}>
                <dt>{text(name)}</dt>
                <dd>{value}</dd>
              </div>
            ),
        )}
      </dl>
    </li>
  );
}

/** Columns with the names of the interface: a file for other programs is the same in every language. */
const COLUMNS = [
  "id",
  "created",
  "sent",
  "answered",
  "state",
  "disease",
  "code",
  "environment",
  "endpoint",
  "documentIdentifier",
  "identifier",
  "digest",
  "receipt",
  "answerStatus",
  "answerDigest",
  "corrects",
] as const satisfies (keyof StatementEntryView)[];

function linesOf(view: StatementView): (string | number | null)[][] {
  return [
    [...COLUMNS, "chainEvent", "chainHash"],
    ...view.entries.map((entry) => [...COLUMNS.map((column) => entry[column]), view.chainEvent, view.chainHash]),
  ];
}
