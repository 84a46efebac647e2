// What can be done with what was just sent, and which of it comes first.

import { Eye, FilePen, Files, ListChecks, Pause, Play, Undo2 } from "lucide-react";

import type { BatchView } from "../bridge/generated/BatchView";
import { useCommand, useStatus } from "../bridge/queries";
import { useText } from "../i18n/text";
import type { Batch } from "../intake";
import type { BarAction } from "../kit/actions";
import { followFocus } from "../kit/focus";
import { sayProblem } from "../kit/toasts";
import { useWindow } from "../place";
import type { Place } from "../place";
import type { Phase } from "./batch";
import { useDecision } from "./decided";

interface Own {
  undo: { press: () => void; isPending: boolean };
  /** Shows the files that became no submission. */
  showRest: () => void;
}

export function useBatchActions(
  batch: Batch,
  view: BatchView | undefined,
  phase: Phase,
  own: Own,
): { actions: BarAction[]; first: BarAction | undefined } {
  const text = useText();
  const { go, place } = useWindow();
  const back = phase === "undone" && batch.held ? batch.held.ids : [];
  const pause = usePause();
  const sendAfterAll = useSendAfterAll(back);
  // While they are released one after the other it is still about all of them.
  const areBack = sendAfterAll.isPending || batch.held?.count === (view?.byState.held ?? 0);
  const takenBack = areBack ? back : [];
  // What was just taken back lacks nothing: it can be sent after all.
  const wrong = phase === "waiting" ? [] : (view?.attention ?? []).filter((id) => !takenBack.includes(id));
  const [one] = wrong;
  const undo: BarAction = {
    id: "undo",
    word: text("batch.undo"),
    icon: Undo2,
    autoFocus: true,
    "data-testid": "undo",
    ...own.undo,
  };
  const correct: BarAction = {
    id: "correct",
    word: text("batch.correct", { n: wrong.length }),
    icon: wrong.length === 1 ? FilePen : ListChecks,
    tone: "primary",
    press: () => {
      if (wrong.length === 1 && one !== undefined) go({ screen: "reports", group: null, open: one, corrects: true });
      else go({ screen: "correct", open: null });
      followFocus();
    },
    "data-testid": "batch-correct",
  };
  const rest: BarAction = {
    id: "rest",
    word: text("batch.rest", { n: batch.rest.length }),
    icon: Files,
    tone: "quiet",
    press: own.showRest,
  };
  const show: BarAction = {
    id: "show",
    word: text("batch.show"),
    icon: Eye,
    tone: "quiet",
    press: () => {
      go({ screen: "reports", group: null, open: null, sent: { ids: batch.ids, at: batch.sentAt } });
      followFocus();
    },
    "data-testid": "batch-show",
  };
  const actions = [
    phase === "waiting" && undo,
    phase === "moving" && pause,
    takenBack.length > 0 && sendAfterAll,
    // On the list of them it would lead nowhere.
    wrong.length > 0 && !(wrong.length > 1 && isListOfWrong(place)) && correct,
    batch.rest.length > 0 && rest,
    batch.ids.length > 0 && show,
  ].filter((action) => action !== false);
  const first = [undo, sendAfterAll, correct, show, rest].find((action) => actions.includes(action));
  return { actions, first };
}

const isListOfWrong = (place: Place) => place.screen === "correct" && place.open === null && place.cause === undefined;

function usePause(): BarAction {
  const text = useText();
  const paused = useStatus().data?.paused ?? false;
  const set = useCommand("set_paused");
  return {
    id: "pause",
    word: text(paused ? "standing.resume" : "batch.pause"),
    icon: paused ? Play : Pause,
    tone: "quiet",
    isPending: set.isPending,
    press: () => set.mutate({ paused: !paused }, { onError: sayProblem(text) }),
  };
}

/** Undoes the undo: they leave as if they were sent now, with their seconds to be taken back in their turn. */
function useSendAfterAll(ids: number[]): BarAction {
  const text = useText();
  const release = useDecision();
  return {
    id: "send-after-all",
    word: text("action.send-after-all", { n: ids.length }),
    icon: Play,
    tone: "primary",
    isPending: release.isPending,
    press: () =>
      release.mutate(
        { ids, decision: "release", reason: text("send-after-all.reason") },
        { onError: sayProblem(text) },
      ),
    "data-testid": "send-after-all",
  };
}
