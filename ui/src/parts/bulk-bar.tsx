// What can be done with all reports that are chosen, at the bottom of the list. The core says for how many each is
// possible, and afterwards for which it was done.

import { Ban, Download, Hand, ListChecks, Play, RotateCw, X, XCircle } from "lucide-react";
import type { LucideIcon } from "lucide-react";
import { useState } from "react";

import type { Decision } from "../bridge/door";
import type { Action } from "../bridge/generated/Action";
import type { DecidedView } from "../bridge/generated/DecidedView";
import { useChosen, useCommand } from "../bridge/queries";
import { useText, useWords } from "../i18n/text";
import type { TextId } from "../i18n/text";
import { useIntake } from "../intake";
import type { Selection } from "../selection";
import css from "./bulk-bar.module.css";
import { Actions } from "../kit/actions";
import type { BarAction } from "../kit/actions";
import { Button } from "../kit/controls";
import type { Decided } from "./decided";
import { LosingReason, SendAgain } from "./drafts";
import type { Deciding } from "./drafts";
import { tableOf } from "./reports-table";
import { useSaveTable } from "./save-table";
import { ReadAgain, problemText } from "../kit/notes";
import { sayProblem } from "../kit/toasts";

/** What is asked for before it is done: a reason, that the journal keeps. */
type Reasoned = "release" | "withdraw" | "not-reportable";
/** What is asked about only where drafts would be lost by it. */
type Again = "resubmit" | "after-all";

export function BulkBar(props: {
  selection: Selection;
  /** Reports that the list has, and how many of the chosen ones are not among them. */
  total: number;
  hidden: number;
  onAll: () => void;
  onDecided: (decided: Decided) => void;
}) {
  const { selection, total, hidden, onAll, onDecided } = props;
  const text = useText();
  const ids = [...selection.ids];
  const chosen = useChosen(ids);
  const [asking, setAsking] = useState<Reasoned | Again>();
  const intake = useIntake();
  const decide = useCommand("decide", {
    onDone(view, { decision }) {
      setAsking(undefined);
      selection.clear();
      if (view.sent.length > 0) intake.followed(view.sent);
      onDecided({ at: Date.now(), decision, view });
    },
  });
  const run = (decision: Decision, about = ids, reason = "") =>
    decide.mutate({ ids: about, decision, reason }, { onError: sayProblem(text) });
  // What was taken back is sent after all; the others that are on hold, with a reason.
  // What is at hand may still be about the selection of a moment ago.
  const back = new Set(chosen.data?.takenBack.filter((id) => selection.ids.has(id)));
  const possible = (action: Action) =>
    ids.length === 0 ? 0 : (chosen.data?.actions[action] ?? 0) - (action === "release" ? back.size : 0);
  const drafts = (action: Action) => chosen.data?.drafts[action] ?? [];
  const about = (action: Action | "after-all"): Deciding => {
    if (action === "after-all") return { ids: [...back], drafts: drafts("release").filter((id) => back.has(id)) };
    const isLeft = (id: number) => action !== "release" || !back.has(id);
    return { ids: ids.filter(isLeft), n: possible(action), drafts: drafts(action).filter(isLeft) };
  };
  const action = (code: Decision, word: TextId, icon: LucideIcon, press: () => void): BarAction[] => {
    const n = possible(code === "not-reportable" ? "withdraw" : code);
    const id = `bulk-${code}`;
    return n > 0
      ? [{ id, word: text(word, { n }), icon, tone: "quiet", isPending: decide.isPending, press, "data-testid": id }]
      : [];
  };
  const sendAgain = async () => {
    // What is at hand may still be about the selection of a moment ago.
    const { data } = chosen.isPlaceholderData ? await chosen.refetch() : chosen;
    // Where that cannot be read the bar says so, and nothing is sent.
    if (!data) return;
    if ((data.drafts.resubmit ?? []).length > 0) setAsking("resubmit");
    else run("resubmit");
  };
  const sendAfterAll = (about: number[]) => run("release", about, text("send-after-all.reason"));
  const afterAll: BarAction = {
    id: "send-after-all",
    word: text("action.send-after-all", { n: back.size }),
    icon: Play,
    tone: "quiet",
    isPending: decide.isPending,
    press: () => (about("after-all").drafts.length > 0 ? setAsking("after-all") : sendAfterAll([...back])),
    "data-testid": "send-after-all",
  };
  const save = useSaveChosen(ids);
  const actions = [
    ...action("resubmit", "bulk.resubmit", RotateCw, () => void sendAgain()),
    ...(back.size > 0 ? [afterAll] : []),
    ...action("release", "bulk.release", Play, () => setAsking("release")),
    ...action("hold-back", "bulk.hold-back", Hand, () => run("hold-back")),
    ...action("withdraw", "bulk.withdraw", XCircle, () => setAsking("withdraw")),
    ...action("not-reportable", "bulk.not-reportable", Ban, () => setAsking("not-reportable")),
    save,
  ];
  const all: BarAction = { id: "bulk-all", word: text("bulk.all", { n: total }), icon: ListChecks, press: onAll };
  return (
    <div className={css.bar} data-keeps-clear role="region" aria-label={text("bulk.label")} data-testid="bulk-bar">
      <p className={css.count} role="status">
        <strong data-testid="chosen-count">{text("bulk.chosen", { n: ids.length })}</strong>
        {hidden > 0 && <span>{text("bulk.hidden", { n: hidden })}</span>}
      </p>
      {total > ids.length && (
        <span className={css.all}>
          <Button tone="quiet" onPress={onAll} data-testid="choose-all-matching">
            {all.word}
          </Button>
        </span>
      )}
      <span className={css.none}>
        <Button tone="quiet" icon={X} label={text("bulk.clear")} onPress={selection.clear} />
      </span>
      {!chosen.data && chosen.error && (
        <>
          <p className={css.left} role="alert">
            {problemText(text, chosen.error).title}
          </p>
          <ReadAgain of={chosen} tone="quiet" />
        </>
      )}
      <div className={css.actions}>
        <Actions actions={actions} first={actions[0]} elsewhere={total > ids.length ? [all] : []} />
      </div>
      {(asking === "resubmit" || asking === "after-all") && (
        <SendAgain
          about={about(asking)}
          isAfterAll={asking === "after-all"}
          isPending={decide.isPending}
          onSend={asking === "after-all" ? sendAfterAll : (left) => run("resubmit", left)}
          onClose={() => setAsking(undefined)}
        />
      )}
      {asking && asking !== "resubmit" && asking !== "after-all" && (
        <Question
          asked={asking}
          about={about(asking === "release" ? "release" : "withdraw")}
          isPending={decide.isPending}
          onConfirm={(left, reason) => run(asking, left, reason)}
          onClose={() => setAsking(undefined)}
        />
      )}
    </div>
  );
}

function Question(props: {
  asked: Reasoned;
  about: Deciding;
  isPending: boolean;
  onConfirm: (ids: number[], reason: string) => void;
  onClose: () => void;
}) {
  const { asked, onConfirm, ...rest } = props;
  const text = useText();
  const notReportable = asked === "not-reportable";
  return (
    <LosingReason
      {...rest}
      title={(n) => text(`bulk.${asked}.title`, { n })}
      explanation={(n) => text(`bulk.${asked}.more`, { n })}
      confirm={(n) => text(`bulk.${asked}`, { n })}
      // Whoever asks later finds all of them by this word.
      onConfirm={(ids, reason) =>
        onConfirm(ids, notReportable ? text("bulk.not-reportable.reason", { reason }) : reason)
      }
    />
  );
}

/** The chosen reports as a file for a spreadsheet; it names no patient. */
function useSaveChosen(ids: number[]): BarAction {
  const words = useWords();
  const { text } = words;
  const { busy, save } = useSaveTable({
    table: () => tableOf(ids, words),
    saved: text("bulk.saved", { n: ids.length }),
  });
  return {
    id: "bulk-csv",
    word: text("table.save"),
    icon: Download,
    tone: "quiet",
    isPending: busy,
    press: () => void save(),
    "data-testid": "bulk-csv",
  };
}

/** For how many nothing could be done. */
export const refusedOf = (view: DecidedView): number =>
  view.refused.reduce((sum, refused) => sum + refused.ids.length, 0);
