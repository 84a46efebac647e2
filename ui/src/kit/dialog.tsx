import { X } from "lucide-react";
import { useEffect, useLayoutEffect, useRef, useState } from "react";
import type { ReactNode } from "react";
import { Dialog as AriaDialog, Heading, Modal, ModalOverlay } from "react-aria-components";

import type { Problem } from "../bridge/generated/Problem";
import { useText } from "../i18n/text";
import { Button, TextField } from "./controls";
import css from "./dialog.module.css";
import { ProblemNote } from "./notes";

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
  /** What is asked before something that is under way, and not only typed, is left. */
  leaving?: { question: string; leave: string; stay: string } | undefined;
  /** Hears that this is being asked, and that it is no more. */
  onAsking?: (asks: boolean) => void;
  /** Nothing in it takes the focus, and it may be longer than the window: the keys scroll it. */
  scrolls?: boolean;
  onClose: () => void;
  children: ReactNode;
  footer?: ReactNode;
}) {
  const { title, size = "medium", isDirty = false, leaving, scrolls = false, onClose, children, footer } = props;
  const { onAsking } = props;
  const text = useText();
  const [asking, setAsking] = useState(false);
  // What was under way has come to its end meanwhile: there is nothing left to be asked.
  if (asking && !isDirty) setAsking(false);
  const own = useRef<HTMLElement>(null);
  /** Where somebody was before they were asked: in a field, and not on the press that has asked. */
  const field = useRef<HTMLElement | null>(null);
  const close = () => (isDirty ? setAsking(true) : onClose());
  const stay = () => {
    setAsking(false);
    const kept = field.current;
    if (kept?.isConnected) kept.focus();
  };
  const hears = useRef(onAsking);
  useEffect(() => {
    hears.current = onAsking;
  });
  useEffect(() => hears.current?.(asking), [asking]);
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
          <div
            className={css.body}
            tabIndex={scrolls ? 0 : undefined}
            onFocus={({ target }) => {
              if (target.matches("input, textarea")) field.current = target;
            }}
          >
            {children}
          </div>
          {asking ? (
            <div className={css.footer} role="alert" data-keeps-clear>
              <strong className={css.asking}>{leaving?.question ?? text("dialog.discard")}</strong>
              <Button tone="danger" onPress={onClose} data-testid="discard">
                {leaving?.leave ?? text("dialog.discard.yes")}
              </Button>
              <Button tone="primary" autoFocus onPress={stay} data-testid="keep-editing">
                {leaving?.stay ?? text("dialog.discard.no")}
              </Button>
            </div>
          ) : (
            footer && (
              <footer className={css.footer} data-keeps-clear>
                {footer}
              </footer>
            )
          )}
        </AriaDialog>
      </Modal>
    </ModalOverlay>
  );
}

/**
 * Asks before something is done: what it means, the press that does it, and the way back. Where it cannot be undone
 * (`danger`) the keyboard is on the way back.
 */
export function Confirm(props: {
  title: string;
  confirm: string;
  tone?: "primary" | "danger";
  size?: "small" | "medium";
  isDirty?: boolean;
  isDisabled?: boolean;
  isPending: boolean;
  /** Takes the keyboard on the press that does it. */
  focusesConfirm?: boolean;
  /** Another answer, between the way back and the press that does it. */
  other?: { name: string; tone?: "plain" | "danger"; onPress: () => void; "data-testid": string };
  /** Why it could not be done. */
  problem?: Problem | null;
  onConfirm: () => void;
  onClose: () => void;
  children: ReactNode;
  "data-testid": string;
}) {
  const {
    title,
    confirm,
    tone = "primary",
    size = "small",
    isDirty,
    isDisabled,
    isPending,
    focusesConfirm,
    other,
    problem,
  } = props;
  const text = useText();
  return (
    <Dialog
      title={title}
      size={size}
      isDirty={isDirty}
      onClose={props.onClose}
      footer={
        <>
          <Button tone="quiet" autoFocus={tone === "danger"} onPress={props.onClose}>
            {text("action.cancel")}
          </Button>
          {other && (
            <Button
              tone={other.tone ?? "plain"}
              isDisabled={isPending}
              onPress={other.onPress}
              data-testid={other["data-testid"]}
            >
              {other.name}
            </Button>
          )}
          <Button
            tone={tone}
            autoFocus={focusesConfirm}
            isDisabled={isDisabled}
            isPending={isPending}
            onPress={props.onConfirm}
            data-testid={props["data-testid"]}
          >
            {confirm}
          </Button>
        </>
      }
    >
      {props.children}
      {problem && <ProblemNote problem={problem} />}
    </Dialog>
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
  /** What else there is to decide, between the explanation and the reason. */
  children?: ReactNode;
}) {
  const text = useText();
  const [reason, setReason] = useState("");
  const given = reason.trim();
  return (
    <Confirm
      title={props.title}
      confirm={props.confirm}
      isDirty={given !== ""}
      isDisabled={!given}
      isPending={props.isPending}
      onConfirm={() => props.onConfirm(given)}
      onClose={props.onClose}
      data-testid="reason-confirm"
    >
      <p>{props.explanation}</p>
      {props.children}
      <TextField
        label={text("reason.label")}
        help={text("reason.help")}
        value={reason}
        onChange={setReason}
        rows={3}
        autoFocus
        data-testid="reason"
      />
    </Confirm>
  );
}
