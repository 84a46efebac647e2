// What became of one decision for many reports: for how many it was done, for which not and why. It stays until it is
// put away, and what can be undone is undone here.

import { ListX, Undo2, X } from "lucide-react";
import { useState } from "react";

import type { Decision } from "../bridge/door";
import type { DecidedView } from "../bridge/generated/DecidedView";
import { useCommand } from "../bridge/queries";
import { useText } from "../i18n/text";
import { useIntake } from "../intake";
import { refusedOf } from "./bulk-bar";
import css from "./bulk-bar.module.css";
import { Button } from "../kit/controls";
import { Dialog } from "../kit/dialog";
import { problemText } from "../kit/notes";
import { say, sayProblem } from "../kit/toasts";

export interface Decided {
  /** When, milliseconds since the epoch: tells one decision from the next about the same reports. */
  at: number;
  decision: Decision;
  view: DecidedView;
}

/** One decision for several reports, in one call: what is sent by it is taken back together, in the bar that counts the
 *  seconds, and for how many it was not done is said. */
export function useDecision(onEnd?: () => void) {
  const text = useText();
  const intake = useIntake();
  return useCommand("decide", {
    onDone(view) {
      onEnd?.();
      if (view.sent.length > 0) intake.followed(view.sent);
      const [first] = view.refused;
      if (first)
        say({
          tone: "attention",
          title: text("decided.left", { n: refusedOf(view) }),
          more: problemText(text, first.problem).title,
        });
    },
  });
}

/** `onShow` lists the reports for which it was not done. */
export function DecidedBar(props: { decided: Decided; onClose: () => void; onShow: (ids: number[]) => void }) {
  const { decided, onClose, onShow } = props;
  const { decision, view } = decided;
  const text = useText();
  const [showsReasons, setShowsReasons] = useState(false);
  const [undone, setUndone] = useState<number>();
  const left = refusedOf(view);
  // What was sent is undone where its seconds are counted, in the bar of the batch; a withdrawal is for good.
  const canUndo = decision === "hold-back" && view.done.length > 0 && undone === undefined;
  const intake = useIntake();
  // Undoing a stop sends: it takes a press on its own button, never a key, and has seconds to be undone in its turn.
  const release = useCommand("decide", {
    onDone(back) {
      setUndone(back.done.length);
      if (back.sent.length > 0) intake.followed(back.sent);
    },
  });
  const titles = view.refused.map(({ problem }) => problemText(text, problem).title);
  const undo = () =>
    canUndo &&
    release.mutate(
      { ids: view.done, decision: "release", reason: text("bulk.undo.reason") },
      { onError: sayProblem(text) },
    );
  return (
    <div className={css.decided} role="region" aria-label={text("decided.label")} data-testid="decided">
      <p role="status">
        <strong>
          {undone === undefined
            ? text(`decided.${decision}`, { n: view.done.length })
            : text("decided.undone", { n: undone })}
        </strong>{" "}
        {left > 0 && <span className={css.left}>{text("decided.left", { n: left })}</span>}
      </p>
      {canUndo && (
        <Button icon={Undo2} isPending={release.isPending} onPress={undo} data-testid="decided-undo">
          {text("batch.undo")}
        </Button>
      )}
      {left > 0 && (
        <Button icon={ListX} onPress={() => setShowsReasons(true)} data-testid="decided-why">
          {text("decided.why")}
        </Button>
      )}
      <Button tone="quiet" icon={X} label={text("action.close")} onPress={onClose} />
      {showsReasons && (
        <Dialog title={text("decided.left", { n: left })} onClose={() => setShowsReasons(false)}>
          <p>{text(`decided.${decision}`, { n: view.done.length })}</p>
          <ul className={css.reasons}>
            {view.refused.map((refused, at) => {
              const { title, more } = problemText(text, refused.problem);
              return (
                <li key={refused.ids[0]} data-testid="decided-reason">
                  <b>{refused.ids.length}</b>
                  <div>
                    {title !== titles[at - 1] && <strong>{title}</strong>}
                    {more && <span>{more}</span>}
                  </div>
                  <Button
                    tone="quiet"
                    onPress={() => {
                      setShowsReasons(false);
                      onShow(refused.ids);
                    }}
                  >
                    {text("batch.show")}
                  </Button>
                </li>
              );
            })}
          </ul>
        </Dialog>
      )}
    </div>
  );
}
