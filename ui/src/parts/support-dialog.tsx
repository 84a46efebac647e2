// The support bundle: everything in it is shown before it is saved.

import { useQuery } from "@tanstack/react-query";
import { Save } from "lucide-react";

import { door } from "#door";

import { useCommand } from "../bridge/queries";
import { useText, useWords } from "../i18n/text";
import { Button } from "../kit/controls";
import { Dialog } from "../kit/dialog";
import { ProblemNote, ReadProblem } from "../kit/notes";
import css from "./support-dialog.module.css";
import { say } from "../kit/toasts";

export function SupportDialog({ onClose }: { onClose: () => void }) {
  const text = useText();
  const { language } = useWords();
  const preview = useQuery({
    queryKey: ["support_preview", language],
    queryFn: () => door.call("support_preview", { language }),
    gcTime: 0,
    staleTime: 0,
  });
  const save = useCommand("save_support", {
    onDone(saved) {
      if (!saved) return;
      say({ tone: "done", title: text("support.saved") });
      onClose();
    },
  });
  return (
    <Dialog
      title={text("support.title")}
      size="large"
      onClose={onClose}
      footer={
        <Button
          tone="primary"
          icon={Save}
          isDisabled={!preview.data}
          isPending={save.isPending}
          onPress={() => save.mutate()}
          data-testid="support-save"
        >
          {text("support.save")}
        </Button>
      }
    >
      <p>{text("support.more")}</p>
      <ReadProblem of={preview} />
      {save.error && <ProblemNote problem={save.error} />}
      {preview.data?.map((file) => (
        <section key={file.name} className={css.file} data-testid="support-file">
          <h3>
            {text.code(`support-file.${file.name.replace(/\.\w+$/, "")}`) ?? file.name} <code>{file.name}</code>
          </h3>
          {/* Reached by keyboard, because it scrolls. */}
          <pre className="selectable" tabIndex={0} aria-label={file.name}>
            {file.text}
          </pre>
        </section>
      ))}
    </Dialog>
  );
}
