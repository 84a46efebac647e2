// A batch after sending: ten seconds in which it can be taken back, then how far it is.

import { ArrowRight, ListChecks, Undo2, X } from "lucide-react";
import { useEffect, useState } from "react";

import { useCommand, useRows } from "../bridge/queries";
import type { RowView } from "../bridge/generated/RowView";
import { useText } from "../i18n/text";
import { UNDO_MS, useIntake } from "../intake";
import type { Batch } from "../intake";
import { useWindow } from "../place";
import css from "./batch.module.css";
import { CandidateRow } from "./candidate";
import { Button } from "./controls";
import { StateLabel, toneOf } from "./state";
import { sayProblem } from "./toasts";

/** The most rows that one query gives. */
const ROWS_MAX = 500;

export function BatchProgress({ batch }: { batch: Batch }) {
  const text = useText();
  const intake = useIntake();
  const { go } = useWindow();
  const left = useSecondsLeft(batch);
  const rows = useBatchRows(batch);
  const holdBack = useCommand("hold_back", { onDone: intake.undone });
  // What was put on hold by its findings is not on its way.
  const waiting = rows.filter((row) => row.state === "queued").map((row) => row.id);
  const undo = () => holdBack.mutate({ ids: waiting }, { onError: sayProblem(text) });
  const canUndo = left > 0 && !batch.undone && waiting.length > 0;
  useUndoKey(() => canUndo && undo());

  const n = batch.ids.length;
  const moving = rows.filter((row) => row.group === "in-progress").length;
  const settled = rows.length - moving;
  const attention = rows.some((row) => row.group === "needs-attention");
  const title = batch.undone
    ? text("batch.undone", { n })
    : n === 0
      ? text("batch.none")
      : canUndo
        ? text("batch.waiting", { n: waiting.length, seconds: left })
        : moving > 0
          ? text("batch.moving", { n, settled })
          : text("batch.settled", { n });
  return (
    <section className={css.batch} aria-label={text("batch.label")}>
      <div className={css.head}>
        <strong className={css.title}>
          <span aria-live="polite">{title}</span>
        </strong>
        {canUndo && (
          <Button icon={Undo2} onPress={undo} isPending={holdBack.isPending} data-testid="undo">
            {text("batch.undo")}
          </Button>
        )}
        {!canUndo && attention && (
          <Button tone="primary" icon={ListChecks} onPress={() => go({ screen: "correct", open: null })}>
            {text("nav.correct")}
          </Button>
        )}
        {n > 0 && (
          <Button tone="quiet" icon={ArrowRight} onPress={() => go({ screen: "reports", group: null, open: null })}>
            {text("batch.show")}
          </Button>
        )}
        <Button tone="quiet" icon={X} label={text("action.close")} onPress={intake.closeBatch} />
      </div>
      {canUndo ? <Countdown seconds={left} /> : n > 0 && <Bar rows={rows} of={n} />}
      {rows.length > 0 && <ByState rows={rows} />}
      {batch.rest.length > 0 && (
        <>
          <p>{text("batch.rest", { n: batch.rest.length })}</p>
          <ul className={css.rest}>
            {batch.rest.map((view, at) => (
              <CandidateRow key={at} view={view} />
            ))}
          </ul>
        </>
      )}
    </section>
  );
}

function Countdown({ seconds }: { seconds: number }) {
  return (
    <div className={css.bar} aria-hidden>
      <span className={css.countdown} style={{ width: `${(seconds * 100_000) / UNDO_MS}%` }} />
    </div>
  );
}

function Bar({ rows, of }: { rows: RowView[]; of: number }) {
  const text = useText();
  const settled = rows.filter((row) => row.group !== "in-progress");
  const tones = ["done", "caution", "attention", "quiet"] as const;
  return (
    <div
      className={css.bar}
      role="progressbar"
      aria-label={text("batch.label")}
      aria-valuemin={0}
      aria-valuemax={of}
      aria-valuenow={settled.length}
    >
      {tones.map((tone) => {
        const count = settled.filter((row) => toneOf(row.state) === tone).length;
        return <span key={tone} className={css[tone]} style={{ width: `${(100 * count) / of}%` }} />;
      })}
    </div>
  );
}

function ByState({ rows }: { rows: RowView[] }) {
  const counts = new Map<string, number>();
  for (const row of rows) counts.set(row.state, (counts.get(row.state) ?? 0) + 1);
  return (
    <ul className={css.states}>
      {[...counts].map(([state, count]) => (
        <li key={state}>
          <StateLabel state={state} size={16} />
          <span className={css.count}>{count}</span>
        </li>
      ))}
    </ul>
  );
}

/** The rows of the batch: its numbers lie together, so one page before the next number holds them. */
function useBatchRows(batch: Batch): RowView[] {
  const last = Math.max(0, ...batch.ids);
  const first = Math.min(last, ...batch.ids);
  const page = useRows(
    { group: null, states: [], search: null, since: null, before: last + 1, limit: Math.min(last - first + 1, ROWS_MAX) },
    batch.ids.length > 0,
  );
  const ids = new Set(batch.ids);
  return page.data?.rows.filter((row) => ids.has(row.id)) ?? [];
}

function useSecondsLeft(batch: Batch): number {
  const { undoUntil } = batch;
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => {
      setNow(Date.now());
      if (Date.now() >= undoUntil) clearInterval(timer);
    }, 250);
    return () => clearInterval(timer);
  }, [undoUntil]);
  return Math.max(0, Math.ceil((undoUntil - now) / 1000));
}

function useUndoKey(undo: () => void): void {
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const typing = event.target instanceof HTMLElement && event.target.closest("input, textarea");
      if (event.key === "z" && (event.ctrlKey || event.metaKey) && !typing) undo();
    };
    document.addEventListener("keydown", press);
    return () => document.removeEventListener("keydown", press);
  });
}
