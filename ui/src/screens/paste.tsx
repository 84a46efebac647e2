import { ListPlus } from "lucide-react";
import { useState } from "react";

import { useText } from "../i18n/text";
import { Button, TextField } from "../kit/controls";
import { Dialog } from "../kit/dialog";

/** A report as text, for those who do not paste by key: it becomes a row of the list, as a file does. */
export function PasteDialog({ onPaste, onClose }: { onPaste: (text: string) => void; onClose: () => void }) {
  const text = useText();
  const [content, setContent] = useState("");
  const add = () => {
    onPaste(content);
    onClose();
  };
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
          <Button tone="primary" icon={ListPlus} isDisabled={!content.trim()} onPress={add} data-testid="paste-add">
            {text("paste.add")}
          </Button>
        </>
      }
    >
      <p>{text("paste.more")}</p>
      <TextField
        label={text("paste.content")}
        value={content}
        onChange={setContent}
        rows={14}
        mono
        autoFocus
        data-testid="paste-content"
      />
    </Dialog>
  );
}
