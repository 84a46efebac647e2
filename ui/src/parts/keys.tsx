// Keys that work anywhere in the window. Single keys are ignored while something is typed or a dialog is open.

import { useEffect, useRef } from "react";

import { useText } from "../i18n/text";
import type { TextId } from "../i18n/text";
import { HOME } from "../place";
import type { Place, Screen } from "../place";
import { isDialogOpen } from "../kit/dialog";
import css from "./keys.module.css";

/** Whether a key belongs to a field, a menu or a dialog instead. */
export function isTaken(event: KeyboardEvent): boolean {
  const { target } = event;
  if (event.ctrlKey || event.metaKey || event.altKey) return true;
  if (isDialogOpen() || document.querySelector("[role=listbox][data-focused], [role=menu]")) return true;
  if (!(target instanceof HTMLElement)) return false;
  // It presses what has the focus.
  if (event.key === "Enter" && target.closest(PRESSED) !== null) return true;
  return target.closest("input, textarea, [contenteditable], [data-typing], [role=listbox]") !== null;
}

const PRESSED = "button, a, summary, [role=button], [role=checkbox], [role=switch], [role=tab]";

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
      if (event.key.toLowerCase() !== "a" || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey)
        return;
      const typing =
        event.target instanceof HTMLElement &&
        event.target.closest("input, textarea, [contenteditable], [data-typing]");
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
      if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey)
        return;
      event.preventDefault();
      if (!isDialogOpen()) latest.current();
    };
    document.addEventListener("keydown", press);
    return () => document.removeEventListener("keydown", press);
  }, []);
}

/** The key that works on every screen; all other single keys belong to a list. */
export function useWindowKeys({ showSheet }: { showSheet: () => void }): void {
  useKeys({ "?": showSheet });
}

/** After G, the letter of a place. */
const PLACES: Record<string, Screen> = {
  s: "send",
  r: "reports",
  c: "correct",
  o: "overview",
  a: "ask",
  k: "certificate",
  e: "settings",
};
/** So long the second letter may take, milliseconds. */
const SECOND_LETTER = 1500;

/** G, then a letter: to a place, or locked. The letter does nothing else then, whatever it does in a list. */
export function usePlaceKeys(to: { go: (place: Place) => void; lock: () => void }): void {
  const latest = useRef(to);
  useEffect(() => {
    latest.current = to;
  });
  useEffect(() => {
    let since = -SECOND_LETTER;
    const press = (event: KeyboardEvent) => {
      if (!singleKeys || event.key.length !== 1 || isTaken(event)) return;
      const key = event.key.toLowerCase();
      const isSecond = event.timeStamp - since < SECOND_LETTER;
      since = !isSecond && key === "g" ? event.timeStamp : -SECOND_LETTER;
      if (!isSecond && key !== "g") return;
      event.preventDefault();
      if (!isSecond) return;
      const screen = PLACES[key];
      if (screen) latest.current.go(HOME[screen]);
      else if (key === "l") latest.current.lock();
    };
    document.addEventListener("keydown", press, { capture: true });
    return () => document.removeEventListener("keydown", press, { capture: true });
  }, []);
}

/** Ctrl and +, − or 0 change the size of the text, also while somebody is typing. */
export function useSizeKeys(change: (by: 1 | -1 | 0) => void): void {
  const latest = useRef(change);
  useEffect(() => {
    latest.current = change;
  });
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const by = ({ "+": 1, "=": 1, "-": -1, "0": 0 } as const)[event.key];
      if (by === undefined || !(event.ctrlKey || event.metaKey) || event.altKey) return;
      event.preventDefault();
      latest.current(by);
    };
    document.addEventListener("keydown", press);
    return () => document.removeEventListener("keydown", press);
  }, []);
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
  { keys: ["1", "…", "5"], what: "keys.groups" },
  { keys: ["Ctrl", "Enter"], what: "keys.send-now" },
  { keys: ["Ctrl", "Z"], what: "keys.undo" },
  { keys: ["Ctrl", "K"], what: "palette.title" },
  { keys: ["G", "S"], what: "nav.send" },
  { keys: ["G", "R"], what: "nav.reports" },
  { keys: ["G", "C"], what: "nav.correct" },
  { keys: ["G", "O"], what: "nav.overview" },
  { keys: ["G", "A"], what: "nav.ask" },
  { keys: ["G", "K"], what: "nav.certificate" },
  { keys: ["G", "E"], what: "nav.settings" },
  { keys: ["G", "L"], what: "keys.lock" },
  { keys: ["Ctrl", "+", "−", "0"], what: "settings.text-size" },
  { keys: ["?"], what: "keys.sheet" },
];

/** Keys that have another name in other languages. */
const NAMED: Record<string, TextId> = { Enter: "keys.enter", Space: "keys.space", Shift: "keys.shift" };

export function KeyList() {
  const text = useText();
  const nameOf = (key: string) => (NAMED[key] ? text(NAMED[key]) : key);
  return (
    <dl className={css.sheet}>
      {SHEET.map(({ keys, what }) => (
        <div key={what}>
          <dt>
            {keys.map((key) => (
              <kbd key={key}>{nameOf(key)}</kbd>
            ))}
          </dt>
          <dd>{text(what)}</dd>
        </div>
      ))}
    </dl>
  );
}
