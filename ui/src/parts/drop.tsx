// What a drop of files will do is said while they hover, and asked where it could mean two things.

import { FilePlus2, FileUp } from "lucide-react";

import { useCommand } from "../bridge/queries";
import { useText } from "../i18n/text";
import { useIntake } from "../intake";
import { HOME, useWindow } from "../place";
import { Button } from "./controls";
import { Dialog } from "./dialog";
import css from "./drop.module.css";
import { afterCorrection } from "./correction";
import { sayProblem } from "./toasts";

export type DropTarget = { kind: "send" } | { kind: "certificate" } | { kind: "report"; id: number };

export function DropVeil({ target }: { target: DropTarget }) {
  const text = useText();
  return (
    <div className={css.veil} aria-hidden data-testid="drop-veil">
      <div className={css.frame}>
        <FileUp size={40} strokeWidth={1.4} />
        <strong>{text(`drop.${target.kind}`)}</strong>
        <span>{text("drop.safe")}</span>
      </div>
    </div>
  );
}

/** One file dropped while a report is open: its correction, or a report of its own. */
export function DropQuestion({ id, path, onClose }: { id: number; path: string; onClose: () => void }) {
  const text = useText();
  const { go, place } = useWindow();
  const intake = useIntake();
  const correct = useCommand("correct_with_file", {
    onDone: (view) => {
      onClose();
      afterCorrection(view, text, (next) => "open" in place && go({ ...place, open: next }));
    },
  });
  const file = path.split(/[/\\]/).at(-1) ?? path;
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
          <Button
            tone="primary"
            icon={FileUp}
            isPending={correct.isPending}
            onPress={() => correct.mutate({ id, path }, { onError: sayProblem(text) })}
            data-testid="drop-correct"
          >
            {text("drop.as-correction")}
          </Button>
        </>
      }
    >
      <p>{text("drop.question.more", { file })}</p>
    </Dialog>
  );
}
