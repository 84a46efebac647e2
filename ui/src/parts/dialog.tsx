import { X } from "lucide-react";
import { useLayoutEffect, useRef, useState } from "react";
import type { ReactNode } from "react";
import { Dialog as AriaDialog, Heading, Modal, ModalOverlay } from "react-aria-components";

import { useText } from "../i18n/text";
import { Button, TextField } from "./controls";
import css from "./dialog.module.css";

/** Whether a dialog is open. The messages in the corner are dialogs to a screen reader, and take nothing away. */
export function isDialogOpen(): boolean {
  return document.querySelector("[role=dialog], [role=alertdialog]:not([aria-modal=false])") !== null;
}

/**
 * A dialog; it exists only while it is open. Once something was entered (`isDirty`) a press beside it does nothing,
 * and Escape asks: nobody loses work by a slip of the hand.
 */
export function Dialog(props: {
  title: string;
  size?: "small" | "medium" | "large";
  isDirty?: boolean;
  /** Nothing in it takes the focus, and it may be longer than the window: the keys scroll it. */
  scrolls?: boolean;
  onClose: () => void;
  children: ReactNode;
  footer?: ReactNode;
}) {
  const { title, size = "medium", isDirty = false, scrolls = false, onClose, children, footer } = props;
  const text = useText();
  const [asking, setAsking] = useState(false);
  const close = () => (isDirty ? setAsking(true) : onClose());
  const own = useRef<HTMLElement>(null);
  // Before it is drawn: the library moves the focus some moments later, and a key that is pressed meanwhile is lost.
  useLayoutEffect(() => {
    if (!own.current?.contains(document.activeElement)) own.current?.focus({ preventScroll: true });
  }, []);
  return (
    <ModalOverlay
      isOpen
      isDismissable={!isDirty}
      className={css.veil}
      onOpenChange={(open) => !open && close()}
      // A press beside it would take the focus out of it for a moment, and the next key with it.
      onMouseDown={(event) => event.target === event.currentTarget && event.preventDefault()}
    >
      <Modal className={`${css.modal} ${css[size]}`}>
        <AriaDialog ref={own} className={css.dialog}>
          <header className={css.header}>
            <Heading slot="title" level={2}>
              {title}
            </Heading>
            <Button tone="quiet" icon={X} label={text("action.close")} onPress={close} />
          </header>
          <div className={css.body} tabIndex={scrolls ? 0 : undefined}>
            {children}
          </div>
          {asking && isDirty ? (
            <footer className={css.footer} role="alert" data-keeps-clear>
              <strong className={css.asking}>{text("dialog.discard")}</strong>
              <Button tone="danger" onPress={onClose} data-testid="discard">
                {text("dialog.discard.yes")}
              </Button>
              <Button tone="primary" autoFocus onPress={() => setAsking(false)} data-testid="keep-editing">
                {text("dialog.discard.no")}
              </Button>
            </footer>
          ) : (
            footer && <footer className={css.footer} data-keeps-clear>{footer}</footer>
          )}
        </AriaDialog>
      </Modal>
    </ModalOverlay>
  );
}

/** Asks for the reason that the journal keeps with a decision. */
export function ReasonDialog(props: {
  title: string;
  explanation: string;
  confirm: string;
  isPending: boolean;
  onConfirm: (reason: string) => void;
  onClose: () => void;
}) {
  const text = useText();
  const [reason, setReason] = useState("");
  const given = reason.trim();
  return (
    <Dialog
      title={props.title}
      size="small"
      isDirty={given !== ""}
      onClose={props.onClose}
      footer={
        <>
          <Button tone="quiet" onPress={props.onClose}>
            {text("action.cancel")}
          </Button>
          <Button
            tone="primary"
            isDisabled={!given}
            isPending={props.isPending}
            onPress={() => props.onConfirm(given)}
            data-testid="reason-confirm"
          >
            {props.confirm}
          </Button>
        </>
      }
    >
      <p>{props.explanation}</p>
      <TextField
        label={text("reason.label")}
        help={text("reason.help")}
        value={reason}
        onChange={setReason}
        rows={3}
        autoFocus
        data-testid="reason"
      />
    </Dialog>
  );
}
