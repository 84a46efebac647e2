// What a drop of files will do is said while they hover, and asked where it could mean two things.

import { FilePlus2, FileUp } from "lucide-react";
import { useCallback, useEffect, useState } from "react";

import { door } from "#door";

import type { CandidateView } from "../bridge/generated/CandidateView";
import type { IntakeView } from "../bridge/generated/IntakeView";
import type { Problem } from "../bridge/generated/Problem";
import { useCommand, useDetail } from "../bridge/queries";
import { useText } from "../i18n/text";
import { useIntake } from "../intake";
import { HOME, fileName, useWindow } from "../place";
import { CandidateRow } from "./candidate";
import { Button } from "../kit/controls";
import { Dialog } from "../kit/dialog";
import css from "./drop.module.css";
import { afterCorrection } from "./correction";
import { useSendKey } from "./draft";
import { useDeciding } from "./drafts";
import { Notice, ProblemNote } from "../kit/notes";
import { sayProblem } from "../kit/toasts";
import { maskedFile } from "./veil";

export type DropTarget = { kind: "send" } | { kind: "certificate" } | { kind: "report"; id: number };

export function DropVeil({ target }: { target: DropTarget }) {
  const text = useText();
  return (
    <div className={css.veil} aria-hidden data-testid="drop-veil">
      <div className={css.frame}>
        <FileUp size={40} strokeWidth={1.4} />
        <strong>{text(`drop.${target.kind}`)}</strong>
        <span>{text(target.kind === "certificate" ? "drop.safe.certificate" : "drop.safe")}</span>
      </div>
    </div>
  );
}

/** One file as the correction of a report: shown before it takes the report's place, and sent as it was shown. */
export function CorrectionQuestion(props: {
  id: number;
  path: string;
  /** Whether a draft is lost by it, where the correction is on the screen. */
  loses?: boolean;
  onDone: (view: IntakeView) => void;
  onClose: () => void;
}) {
  const { id, path, onDone, onClose } = props;
  const hasDraft = useDetail(id).data?.row.draft ?? false;
  const { loses, note } = useDeciding({ ids: [id], drafts: (props.loses ?? hasDraft) ? [id] : [] });
  const text = useText();
  const [here] = useState(() => door.here());
  const [found, setFound] = useState<CandidateView[]>();
  const { reveal } = useWindow();
  const look = useCallback(() => {
    setFound(undefined);
    here.call("inspect_files", { paths: [path], reveal }).then(setFound, sayProblem(text));
  }, [here, path, reveal, text]);
  useEffect(look, [look]);
  const correct = useCommand("correct_with_file", { onDone });
  const shown = found?.flatMap(({ digest }) => (digest ? [digest] : []));
  const onSend = () => {
    if (!shown || correct.isPending) return;
    // What lies there by now is shown before it is sent.
    const onError = (problem: Problem) => {
      if (problem.code === "correction-changed") look();
    };
    correct.mutate({ id, path, shown }, { onError });
  };
  // What is lost by it takes a press on the button that says so.
  useSendKey((event) => {
    if (!loses) return onSend();
    // Nor does it press the way back, which has the keyboard.
    event.preventDefault();
    event.stopPropagation();
  });
  const isIts = found?.every((view) => view.corrects?.id === id) ?? true;
  return (
    <Dialog
      title={text("drop.correction")}
      size="small"
      onClose={onClose}
      footer={
        <>
          <Button autoFocus={loses} onPress={onClose}>
            {text("action.cancel")}
          </Button>
          <Button
            tone={loses ? "danger" : "primary"}
            icon={FileUp}
            isDisabled={!found}
            isPending={correct.isPending}
            onPress={onSend}
            data-testid="drop-correct"
          >
            {text("correct.send")}
          </Button>
        </>
      }
    >
      {correct.error && <ProblemNote problem={correct.error} />}
      {!isIts && <Notice tone="attention" title={text("drop.correction.other")} />}
      {note}
      <ul>
        {found?.map((view, at) => (
          // What is lost stands above.
          <CandidateRow key={at} view={{ ...view, corrects: view.corrects && { ...view.corrects, draft: false } }} />
        ))}
      </ul>
    </Dialog>
  );
}

/** One file dropped while a report is open: its correction, or a report of its own. */
export function DropQuestion({ id, path, onClose }: { id: number; path: string; onClose: () => void }) {
  const text = useText();
  const { go, place, reveal } = useWindow();
  const intake = useIntake();
  const onDone = (view: IntakeView) => {
    onClose();
    if (view.submissions.some((one) => one !== null)) intake.sent([view]);
    afterCorrection(view, text, (next) => "open" in place && go({ ...place, open: next }));
  };
  const [isCorrection, setIsCorrection] = useState(false);
  const name = fileName(path);
  const file = reveal ? name : maskedFile(name);
  if (isCorrection) return <CorrectionQuestion id={id} path={path} onDone={onDone} onClose={onClose} />;
  return (
    <Dialog
      title={text("drop.question")}
      size="small"
      onClose={onClose}
      footer={
        <>
          <Button
            icon={FilePlus2}
            onPress={() => {
              onClose();
              go(HOME.send);
              intake.choose([path]);
            }}
          >
            {text("drop.as-new")}
          </Button>
          <Button tone="primary" icon={FileUp} onPress={() => setIsCorrection(true)} data-testid="drop-as-correction">
            {text("drop.as-correction")}
          </Button>
        </>
      }
    >
      <p>{text("drop.question.more", { file })}</p>
    </Dialog>
  );
}
