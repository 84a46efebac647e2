// Keys that work anywhere in the window. Single keys are ignored while something is typed or a dialog is open.

import { useEffect, useRef } from "react";

import { useText } from "../i18n/text";
import type { TextId } from "../i18n/text";
import { HOME } from "../place";
import type { Place } from "../place";
import { Dialog, isDialogOpen } from "./dialog";
import css from "./keys.module.css";

/** Whether a key belongs to a field, a menu or a dialog instead. */
export function isTaken(event: KeyboardEvent): boolean {
  const { target } = event;
  if (event.ctrlKey || event.metaKey || event.altKey) return true;
  if (isDialogOpen() || document.querySelector("[role=listbox][data-focused], [role=menu]")) return true;
  return target instanceof HTMLElement && target.closest("input, textarea, [contenteditable], [data-typing], [role=listbox]") !== null;
}

/** Whether a letter or a digit alone does something: people who dictate or tremble switch it off (WCAG 2.1.4). */
let singleKeys = true;

export function useSingleKeys(on: boolean): void {
  useEffect(() => {
    singleKeys = on;
  }, [on]);
}

/** Calls the handler of a key; `keys` are values of `KeyboardEvent.key`. */
export function useKeys(handlers: Record<string, (event: KeyboardEvent) => void>): void {
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const handle = handlers[event.key.length === 1 ? event.key.toLowerCase() : event.key];
      if (!handle || event.defaultPrevented || isTaken(event)) return;
      if (!singleKeys && event.key.length === 1) return;
      event.preventDefault();
      handle(event);
    };
    document.addEventListener("keydown", press);
    return () => document.removeEventListener("keydown", press);
  });
}

/** Ctrl+A chooses rows, where no field has text to choose. */
export function useAllKey(choose: () => void): void {
  const latest = useRef(choose);
  useEffect(() => {
    latest.current = choose;
  });
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== "a" || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return;
      const typing = event.target instanceof HTMLElement && event.target.closest("input, textarea, [contenteditable], [data-typing]");
      if (typing || isDialogOpen()) return;
      event.preventDefault();
      latest.current();
    };
    document.addEventListener("keydown", press);
    return () => document.removeEventListener("keydown", press);
  }, []);
}

/** Ctrl+K, also while somebody is typing; not over an open dialog, whose work it would cover. */
export function usePaletteKey(show: () => void): void {
  const latest = useRef(show);
  useEffect(() => {
    latest.current = show;
  });
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return;
      event.preventDefault();
      if (!isDialogOpen()) latest.current();
    };
    document.addEventListener("keydown", press);
    return () => document.removeEventListener("keydown", press);
  }, []);
}

export function useWindowKeys({ go, showSheet, lock }: {
  go: (place: Place) => void;
  showSheet: () => void;
  lock: () => void;
}): void {
  useKeys({
    "?": showSheet,
    s: () => go(HOME.send),
    l: lock,
  });
}

const SHEET: { keys: string[]; what: TextId }[] = [
  { keys: ["/"], what: "keys.search" },
  { keys: ["J", "K"], what: "keys.move" },
  { keys: ["Enter"], what: "keys.open" },
  { keys: ["Esc"], what: "keys.close" },
  { keys: ["Space"], what: "keys.choose" },
  { keys: ["Shift", "↓"], what: "keys.choose-range" },
  { keys: ["Ctrl", "A"], what: "keys.choose-all" },
  { keys: ["E"], what: "keys.correct" },
  { keys: ["R"], what: "keys.resubmit" },
  { keys: ["S"], what: "keys.send" },
  { keys: ["1", "…", "5"], what: "keys.groups" },
  { keys: ["Ctrl", "Enter"], what: "keys.send-now" },
  { keys: ["Ctrl", "Z"], what: "keys.undo" },
  { keys: ["Ctrl", "K"], what: "palette.title" },
  { keys: ["L"], what: "keys.lock" },
  { keys: ["?"], what: "keys.sheet" },
];

export function KeySheet({ onClose }: { onClose: () => void }) {
  const text = useText();
  return (
    <Dialog title={text("keys.title")} size="small" onClose={onClose}>
      <dl className={css.sheet}>
        {SHEET.map(({ keys, what }) => (
          <div key={what}>
            <dt>
              {keys.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{text(what)}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
