// Drafts: a correction that somebody has begun and not sent. The journal forgets it with a decision about its report,
// so a row says that there is one, and every decision says how many it would lose; those are left out unless the
// person wants it otherwise.

import { PencilLine, Play, RotateCw } from "lucide-react";
import { useState } from "react";
import type { ReactNode } from "react";

import { useText } from "../i18n/text";
import type { Text, TextId } from "../i18n/text";
import { Button, Switch } from "../kit/controls";
import { Confirm, Dialog, ReasonDialog } from "../kit/dialog";
import css from "./drafts.module.css";

/** Somebody has begun to correct this report: an icon with its words, which are written where there is room. */
export function DraftMark({ isSpelledOut = false }: { isSpelledOut?: boolean }) {
  const text = useText();
  const words = text("drafts.begun");
  return (
    <span className={css.mark} title={words} data-testid="draft-mark">
      <PencilLine aria-hidden size={14} />
      <span className={isSpelledOut ? undefined : "visually-hidden"}>{words}</span>
    </span>
  );
}

/** Reports that something is decided about. */
export interface Deciding {
  ids: number[];
  /** For how many of them it is possible; for all, where that is not said. */
  n?: number;
  /** Those whose draft it would lose. */
  drafts: number[];
}

/** What of it is decided about, for how many that is possible, and the words and the switch for its drafts. */
export function useDeciding(
  { ids, n = ids.length, drafts }: Deciding,
  lost: TextId = "drafts.lost",
): {
  ids: number[];
  n: number;
  loses: boolean;
  note: ReactNode;
} {
  const [isAsked, setAsked] = useState(true);
  // Where all of them have one nothing would be left: then there is only the way back.
  const mayLeave = drafts.length > 0 && drafts.length < n;
  const leaves = mayLeave && isAsked;
  const left = new Set(leaves ? drafts : []);
  return {
    ids: ids.filter((id) => !left.has(id)),
    n: n - left.size,
    loses: drafts.length > 0 && !leaves,
    note: drafts.length > 0 && (
      <DraftsNote
        n={drafts.length}
        said={ids.length === 1 ? "drafts.own.lost" : leaves ? "drafts.kept" : lost}
        leaves={leaves}
        onChange={mayLeave ? setAsked : null}
      />
    ),
  };
}

function DraftsNote(props: { n: number; said: TextId; leaves: boolean; onChange: ((leaves: boolean) => void) | null }) {
  const { n, said, leaves, onChange } = props;
  const text = useText();
  return (
    <div className={css.note} data-testid="drafts-note">
      {/* Said again when the switch turns it. */}
      <p role="status">
        <PencilLine aria-hidden size={16} />
        <span>{text(said, { n })}</span>
      </p>
      {onChange && (
        <Switch isSelected={leaves} onChange={onChange}>
          {text("drafts.leave-out", { n })}
        </Switch>
      )}
    </div>
  );
}

/** Asks for the reason of a decision, which says its number in its words. */
export function LosingReason(props: {
  about: Deciding;
  title: (n: number) => string;
  explanation: (n: number) => string;
  confirm: (n: number) => string;
  isPending: boolean;
  /** What it does not concern, and may be overlooked. */
  beside?: ReactNode;
  onConfirm: (ids: number[], reason: string) => void;
  onClose: () => void;
}) {
  const { about, title, explanation, confirm, beside, onConfirm, ...rest } = props;
  const { ids, n, note } = useDeciding(about);
  return (
    <ReasonDialog
      {...rest}
      title={title(n)}
      explanation={explanation(n)}
      confirm={confirm(n)}
      onConfirm={(reason) => onConfirm(ids, reason)}
    >
      {beside}
      {note}
    </ReasonDialog>
  );
}

/** A question before reports are sent as they were: once more, or after they were taken back. */
export interface SendsAgain {
  about: Deciding;
  isAfterAll?: boolean;
  isPending: boolean;
  onSend: (ids: number[]) => void;
  onClose: () => void;
}

const titleOf = (text: Text, isAfterAll: boolean, n: number) =>
  text(isAfterAll ? "send-after-all.title" : "resubmit.title", { n });

const sendOf = (text: Text, isAfterAll: boolean) =>
  isAfterAll ? text("action.send-after-all", { n: 1 }) : text("action.resubmit");

/** What comes back in the same way is better sent once, and the rest after its answer. */
export function OneFirst({ about, isAfterAll = false, isPending, onSend, onClose }: SendsAgain) {
  const text = useText();
  const begun = new Set(about.drafts);
  // The first to go is one without a draft, where there is one.
  const isAnyFree = about.ids.some((id) => !begun.has(id));
  const { ids, n, loses, note } = useDeciding(about, isAnyFree ? "drafts.lost.all" : "drafts.lost.each");
  const first = ids.find((id) => !begun.has(id)) ?? ids[0];
  const all = {
    name: text("correct-list.resubmit.all", { n }),
    tone: loses ? ("danger" as const) : ("plain" as const),
    onPress: () => onSend(ids),
    "data-testid": "resubmit-all",
  };
  return (
    <Confirm
      title={titleOf(text, isAfterAll, n)}
      confirm={n > 1 ? text("correct-list.resubmit.one") : sendOf(text, isAfterAll)}
      size="medium"
      isPending={isPending}
      {...(n > 1 && { other: all })}
      tone={first !== undefined && begun.has(first) ? "danger" : "primary"}
      onConfirm={() => onSend(first === undefined ? [] : [first])}
      onClose={onClose}
      data-testid="resubmit-one"
    >
      <p>{text("correct-list.resubmit.more")}</p>
      {note}
    </Confirm>
  );
}

/** Asked before reports are sent as they were although somebody has begun to correct some of them. */
export function SendAgain({ about, isAfterAll = false, isPending, onSend, onClose }: SendsAgain) {
  const text = useText();
  const { ids, n, loses, note } = useDeciding(about);
  return (
    <Dialog
      title={titleOf(text, isAfterAll, n)}
      size="small"
      onClose={onClose}
      footer={
        <>
          <Button tone="quiet" autoFocus={loses} onPress={onClose}>
            {text("action.cancel")}
          </Button>
          <Button
            tone={loses ? "danger" : "primary"}
            icon={isAfterAll ? Play : RotateCw}
            isPending={isPending}
            onPress={() => onSend(ids)}
            data-testid="draft-lost"
          >
            {sendOf(text, isAfterAll)}
          </Button>
        </>
      }
    >
      {note}
    </Dialog>
  );
}
