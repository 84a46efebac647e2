// What was just sent, at the bottom of every screen: some seconds in which it can be taken back, then how far it
// is, then what became of it. Every number comes from the core.

import { CircleCheck, X } from "lucide-react";
import { useEffect, useRef, useState } from "react";

import type { BatchView } from "../bridge/generated/BatchView";
import type { CandidateView } from "../bridge/generated/CandidateView";
import { useBatch, useCommand, useStatus } from "../bridge/queries";
import { useText } from "../i18n/text";
import type { Text } from "../i18n/text";
import { useIntake } from "../intake";
import type { Batch } from "../intake";
import { useWindow } from "../place";
import { onHold } from "../sending";
import { useBatchActions } from "./batch-actions";
import css from "./batch.module.css";
import { CandidateRow } from "./candidate";
import { CertificateButton } from "./certificate-button";
import { useSecondsLeft } from "./countdown";
import { TakingIn, useTakenInBefore } from "./taking-in";
import { useUndoKey } from "./undo-key";
import { Actions } from "../kit/actions";
import { Button } from "../kit/controls";
import { Dialog } from "../kit/dialog";
import { ReadAgain, problemText } from "../kit/notes";
import { sayProblem } from "../kit/toasts";

/** `onCertificate` opens the import of a file that was sent along and is a certificate. */
export function BatchBar({ onCertificate }: { onCertificate: (path: string) => void }) {
  const { batch, taking: own } = useIntake();
  const before = useTakenInBefore();
  const taking = own ?? before;
  const bar = batch && <Bar key={batch.sentAt} batch={batch} onCertificate={onCertificate} />;
  return taking ? <TakingIn stop={taking}>{bar}</TakingIn> : bar;
}

function Bar({ batch, onCertificate }: { batch: Batch; onCertificate: (path: string) => void }) {
  const text = useText();
  const intake = useIntake();
  const read = useBatch(batch.ids);
  const { data: view, error } = read;
  const left = useSecondsLeft(view?.undoUntil ?? null, () => void read.refetch());
  const onHold = view?.byState.held ?? 0;
  // What its findings put on hold before is on hold as well.
  const holdBack = useCommand("hold_back", {
    // Where some had left already, the list says which of them are on hold.
    onDone: (held, { ids }) => intake.undone({ count: held + onHold, ids: held === ids.length ? ids : [] }),
  });
  const [showsRest, setShowsRest] = useState(false);
  const phase = phaseOf(batch, view, left);
  // Taken back and then withdrawn, or replaced: nothing is waited for, and no answer need have come.
  const onlyClosed = phase === "settled" && view !== undefined && view.closed === batch.ids.length;
  const spoken =
    (phase === "waiting" ? view?.waiting.length : phase === "moving" ? view?.moving : undefined) ?? batch.ids.length;
  const isPaused = useStatus().data?.paused ?? false;
  useFold(phase === "settled" && batch.rest.length === 0 && view?.completed === view?.total);
  const undo = () => view && holdBack.mutate({ ids: view.waiting }, { onError: sayProblem(text) });
  const { actions, first } = useBatchActions(batch, view, phase, {
    undo: { press: undo, isPending: holdBack.isPending },
    showRest: () => setShowsRest(true),
  });
  useUndoKey(batch.sentAt, phase === "waiting" ? undo : undefined);
  return (
    <section
      className={css.batch}
      data-keeps-clear
      data-takes-focus="own"
      aria-label={text("batch.label")}
      data-testid="batch"
      data-phase={phase}
    >
      <Line view={view} phase={phase} left={left} />
      <div className={css.words}>
        {error ? (
          <p className={css.problem} role="alert">
            <strong>{text("batch.not-known")}</strong> {problemText(text, error).title}
          </p>
        ) : (
          <Sentence batch={batch} view={view} phase={phase} left={left} />
        )}
        {/* Said once for each phase; a countdown that is read aloud drowns everything else. */}
        <span role="status" className="visually-hidden">
          {phase === "unknown" || (isPaused && (phase === "moving" || phase === "waiting"))
            ? ""
            : phase === "settled" && view && view.attention.length > 0
              ? text("batch.attention", { n: view.attention.length })
              : text(`batch.said.${onlyClosed ? "closed" : phase}`, { n: spoken })}
        </span>
      </div>
      <div className={css.actions}>
        {error && <ReadAgain of={read} tone="quiet" />}
        <Actions actions={actions} first={first} />
        {phase !== "waiting" && (
          <Button tone="quiet" icon={X} label={text("action.close")} onPress={intake.closeBatch} />
        )}
      </div>
      {showsRest && (
        <Dialog title={text("batch.rest", { n: batch.rest.length })} onClose={() => setShowsRest(false)}>
          <ul className={css.rest}>
            {batch.rest.map((candidate, at) => (
              <CandidateRow
                key={at}
                view={candidate}
                certificate={
                  isCertificateFile(candidate) && (
                    <CertificateButton
                      path={candidate.file}
                      onImport={() => {
                        setShowsRest(false);
                        onCertificate(candidate.file);
                      }}
                      onLeave={() => setShowsRest(false)}
                    />
                  )
                }
              />
            ))}
          </ul>
        </Dialog>
      )}
    </section>
  );
}

/** A pasted text has no path, and what lies in an archive cannot be opened by one. */
const isCertificateFile = ({ kind, file }: CandidateView): boolean =>
  kind === "certificate" && /[/\\]/.test(file) && !/\.zip[/\\!:]/i.test(file);

/** Once nothing is left to say but that all went well, the bar goes with the screen on which that was read. */
function useFold(isDone: boolean): void {
  const { closeBatch } = useIntake();
  const { screen } = useWindow().place;
  const read = useRef<string | undefined>(undefined);
  useEffect(() => {
    read.current = isDone ? (read.current ?? screen) : undefined;
    if (read.current !== undefined && read.current !== screen) closeBatch();
  }, [isDone, screen, closeBatch]);
}

export type Phase = "unknown" | "none" | "waiting" | "undone" | "moving" | "settled";

/** Where the batch is. Without numbers from the core it is nowhere: nothing is ever finished by default. */
function phaseOf(batch: Batch, view: BatchView | undefined, left: number): Phase {
  if (batch.ids.length === 0) return "none";
  if (!view) return "unknown";
  // As long as it is so: what was taken back may be released and completed later.
  if (batch.held !== null && (view.byState.held ?? 0) + view.waiting.length > 0) return "undone";
  if (left > 0 && view.waiting.length > 0) return "waiting";
  return view.moving > 0 ? "moving" : "settled";
}

function Sentence({
  batch,
  view,
  phase,
  left,
}: {
  batch: Batch;
  view: BatchView | undefined;
  phase: Phase;
  left: number;
}) {
  const text = useText();
  const paused = useStatus().data?.paused ?? false;
  const n = batch.ids.length;
  if (phase === "waiting" && paused) return <strong>{text("batch.paused", { n: view?.waiting.length ?? n })}</strong>;
  switch (phase) {
    case "none":
      return <strong>{text("batch.none")}</strong>;
    case "unknown":
      return <strong>{text("batch.stored", { n })}</strong>;
    case "waiting":
      return <strong>{text("batch.waiting", { n: view?.waiting.length ?? n, seconds: left })}</strong>;
    case "undone": {
      const { count, left = 0 } = batch.held ?? { count: 0 };
      return (
        <strong>
          {onHold(text, count, n)}
          {left > 0 && ` · ${text("batch.left", { n: left })}`}
        </strong>
      );
    }
    default:
      return view && <Outcome view={view} phase={phase} />;
  }
}

/** "38 completed · 2 need you, 1 cause · 5 on their way, about 10 s" */
function Outcome({ view, phase }: { view: BatchView; phase: Phase }) {
  const text = useText();
  const { completed, closed, causes, secondsLeft, total } = view;
  // What has not left leaves only once sending goes on.
  const status = useStatus().data;
  const queued = view.byState.queued ?? 0;
  const paused = status?.paused ? queued : 0;
  // Nor before somebody can be reached.
  const isCut = status?.connection === "unreachable" || status?.connection === "locked";
  const heldUp = isCut && paused === 0 ? queued : 0;
  const moving = view.moving - paused - heldUp;
  const attention = view.attention.length;
  return (
    <p className={css.outcome} data-testid="outcome">
      {completed > 0 && (
        <span className={css.completed}>
          {phase === "settled" && attention === 0 && <CircleCheck aria-hidden size={17} />}
          {text(phase === "settled" && attention + closed === 0 ? "batch.all-completed" : "batch.completed", {
            n: completed,
          })}
        </span>
      )}
      {attention > 0 && (
        <strong className={css.needs}>
          {text("batch.attention", { n: attention })}
          <span className={css.more}> {text("batch.causes", { n: causes })}</span>
        </strong>
      )}
      {closed > 0 && <span>{text("batch.closed", { n: closed })}</span>}
      {paused > 0 && <span>{text("batch.paused", { n: paused })}</span>}
      {heldUp > 0 && <span data-testid="held-up">{text("batch.held-up", { n: heldUp })}</span>}
      {moving > 0 && (
        <span data-testid="progress">
          {paused === 0 && moving > 1 && secondsLeft !== null
            ? text("batch.so-far", { done: total - moving, total })
            : text("batch.moving", { n: moving })}
          {paused === 0 && moving > 1 && secondsLeft !== null && (
            <span className={css.more}>
              {["", rate(text, moving, secondsLeft), lasting(text, secondsLeft)].join(", ")}
            </span>
          )}
        </span>
      )}
    </p>
  );
}

/** How many finish in a second, or where that is less than one, in a minute: what is left, over the time left. */
export function rate(text: Text, moving: number, seconds: number): string {
  const each = moving / Math.max(1, seconds);
  return each >= 1
    ? text("batch.per-second", { n: Math.round(each) })
    : text("batch.per-minute", { n: Math.max(1, Math.round(each * 60)) });
}

function lasting(text: ReturnType<typeof useText>, seconds: number): string {
  if (seconds < 90) return text("batch.seconds-left", { n: Math.max(1, seconds) });
  return text("batch.minutes-left", { n: Math.round(seconds / 60) });
}

/** The thin line on top: the time for undoing, then the share of what is finished, by what became of it. */
function Line({ view, phase, left }: { view: BatchView | undefined; phase: Phase; left: number }) {
  const text = useText();
  const [whole] = useState(() => ({ seconds: 1 }));
  whole.seconds = Math.max(whole.seconds, left);
  if (phase === "waiting") {
    return (
      <div className={css.line} aria-hidden>
        <span className={css.countdown} style={{ width: `${(100 * left) / whole.seconds}%` }} />
      </div>
    );
  }
  if (!view || view.total === 0) return null;
  const { total, completed, closed, moving } = view;
  const share = (count: number) => ({ width: `${(100 * count) / total}%` });
  return (
    <div
      className={css.line}
      role="progressbar"
      aria-label={text("batch.label")}
      aria-valuemin={0}
      aria-valuemax={total}
      aria-valuenow={total - moving}
    >
      <span className={css.done} style={share(completed)} />
      <span className={css.attention} style={share(view.attention.length)} />
      <span className={css.quiet} style={share(closed)} />
    </div>
  );
}
