// Correcting a report: with a file, or by editing its text beside the messages.

import { FileUp, Send } from "lucide-react";
import { useEffect, useRef, useState } from "react";

import { door } from "#door";

import type { DetailView } from "../bridge/generated/DetailView";
import { useCommand, useDetail } from "../bridge/queries";
import { useText } from "../i18n/text";
import { Button, TextField } from "./controls";
import css from "./correct-dialog.module.css";
import { afterCorrection } from "./correction";
import { Dialog } from "./dialog";
import { Message } from "./message";
import { ProblemNote } from "./notes";
import { sayProblem } from "./toasts";

/** Line of the text, from 1, that the first message concerns. */
function lineInQuestion(view: DetailView): number | null {
  const [first] = view.messages;
  if (!first) return null;
  const section = first.section === null ? undefined : view.sections[first.section];
  return section?.fields.find((field) => field.key === first.field)?.line ?? first.line;
}

/** Selects a line and brings it into view, with a little of what stands before it. */
function showLine(area: HTMLTextAreaElement, line: number): void {
  const lines = area.value.split("\n");
  const start = lines.slice(0, line - 1).reduce((sum, one) => sum + one.length + 1, 0);
  const indent = lines[line - 1]?.search(/\S/) ?? 0;
  area.focus({ preventScroll: true });
  area.setSelectionRange(start + Math.max(indent, 0), start + (lines[line - 1]?.length ?? 0));
  area.scrollTop = Math.max(0, line - 6) * (area.scrollHeight / Math.max(lines.length, 1));
}

interface Props {
  id: number;
  onClose: () => void;
  onDone: (id: number) => void;
}

export function CorrectDialog({ id, onClose, onDone }: Props) {
  const detail = useDetail(id);
  return detail.data ? <Editor view={detail.data} onClose={onClose} onDone={onDone} /> : null;
}

function Editor({ view, onClose, onDone }: { view: DetailView } & Omit<Props, "id">) {
  const text = useText();
  const { id } = view.row;
  const [content, setContent] = useState(view.source);
  const holder = useRef<HTMLDivElement>(null);
  const [line] = useState(() => lineInQuestion(view));
  useEffect(() => {
    const area = holder.current?.querySelector("textarea");
    if (area && line !== null) showLine(area, line);
  }, [line]);
  const finish = (intake: Parameters<typeof afterCorrection>[0]) => {
    onClose();
    afterCorrection(intake, text, onDone);
  };
  const withFile = useCommand("correct_with_file", { onDone: finish });
  const withText = useCommand("correct_with_text", { onDone: finish });
  const choose = () =>
    void door.call("choose_files", { purpose: "reports" }).then(([path]) => {
      if (path !== undefined) withFile.mutate({ id, path });
    }, sayProblem(text));
  const problem = withFile.error ?? withText.error;
  const busy = withFile.isPending || withText.isPending;
  return (
    <Dialog
      title={text("correct.title")}
      size="large"
      isDirty={content !== view.source}
      onClose={onClose}
      footer={
        <>
          <span className={css.kept}>{text("correct.kept")}</span>
          <Button tone="quiet" onPress={onClose}>
            {text("action.cancel")}
          </Button>
          <Button
            tone="primary"
            icon={Send}
            isDisabled={content === view.source || !content.trim()}
            isPending={busy}
            onPress={() => withText.mutate({ id, text: content })}
            data-testid="correct-send"
          >
            {text("correct.send")}
          </Button>
        </>
      }
    >
      <div className={css.ways}>
        <section className={css.aside}>
          <div className={css.file}>
            <h3>{text("correct.file")}</h3>
            <p>{text("correct.file.more")}</p>
            <Button icon={FileUp} isPending={busy} onPress={choose} data-testid="correct-choose">
              {text("correct.choose")}
            </Button>
          </div>
          {problem && <ProblemNote problem={problem} />}
          <h3>{text("detail.messages.count", { n: view.messages.length })}</h3>
          <ul className={css.messages}>
            {view.messages.map((message, at) => (
              <Message key={at} message={message} />
            ))}
          </ul>
        </section>
        <div className={css.text} ref={holder}>
          <TextField
            label={text("correct.edit")}
            help={text("correct.edit.help")}
            value={content}
            onChange={setContent}
            rows={24}
            mono
            data-testid="correct-text"
          />
        </div>
      </div>
    </Dialog>
  );
}
