import { Send } from "lucide-react";
import { useState } from "react";

import { useCommand } from "../bridge/queries";
import { useText } from "../i18n/text";
import { useIntake } from "../intake";
import { Button, TextField } from "../parts/controls";
import { Dialog } from "../parts/dialog";
import { ProblemNote } from "../parts/notes";

/** A report pasted as text: seen once more before it is sent. */
export function PasteDialog({ text: pasted, onClose }: { text: string; onClose: () => void }) {
  const text = useText();
  const intake = useIntake();
  const [content, setContent] = useState(pasted);
  const [name, setName] = useState(() => text("paste.name.default"));
  const send = useCommand("send_text", {
    onDone(view) {
      intake.sent([view]);
      onClose();
    },
  });
  return (
    <Dialog
      title={text("paste.title")}
      isDirty={content.trim() !== ""}
      onClose={onClose}
      footer={
        <>
          <Button tone="quiet" onPress={onClose}>
            {text("action.cancel")}
          </Button>
          <Button
            tone="primary"
            icon={Send}
            isDisabled={!content.trim() || !name.trim()}
            isPending={send.isPending}
            onPress={() => send.mutate({ text: content, name: name.trim() })}
          >
            {text("paste.send")}
          </Button>
        </>
      }
    >
      <p>{text("paste.more")}</p>
      <TextField label={text("paste.name")} value={name} onChange={setName} />
      <TextField label={text("paste.content")} value={content} onChange={setContent} rows={14} mono />
      {send.error && <ProblemNote problem={send.error} />}
    </Dialog>
  );
}
