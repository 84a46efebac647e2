// Asked before a report is sent as it was although somebody has begun to correct it.

import { RefreshCw } from "lucide-react";

import { useText } from "../i18n/text";
import { Button } from "../kit/controls";
import { Dialog } from "../kit/dialog";

export function DraftLost({ onSend, onClose }: { onSend: () => void; onClose: () => void }) {
  const text = useText();
  return (
    <Dialog
      title={text("resubmit.draft")}
      size="small"
      onClose={onClose}
      footer={
        <>
          <Button tone="quiet" onPress={onClose}>
            {text("action.cancel")}
          </Button>
          <Button tone="danger" icon={RefreshCw} onPress={onSend} data-testid="draft-lost">
            {text("action.resubmit")}
          </Button>
        </>
      }
    >
      <p>{text("resubmit.draft.more")}</p>
    </Dialog>
  );
}
