// A report that is being corrected: looked at while somebody types, kept in the journal, changed value by value.

import { useEffect, useLayoutEffect, useRef, useState } from "react";

import { useQueryClient } from "@tanstack/react-query";

import { door } from "#door";

import type { DraftView } from "../bridge/generated/DraftView";
import { followDrafts } from "../bridge/queries";
import { useText } from "../i18n/text";
import { sayProblem } from "../kit/toasts";

/** Pauses of the typist after which the draft is looked at, and kept. */
const LOOK_MS = 250;
const KEEP_MS = 700;

/** What is found in the draft and what differs; looked at anew after each pause. */
export function useLookedAt(id: number, content: string): DraftView | undefined {
  const text = useText();
  const [looked, setLooked] = useState<DraftView>();
  useEffect(() => {
    let current = true;
    const timer = setTimeout(
      () => {
        door.call("look_at_draft", { id, text: content }).then((view) => current && setLooked(view), sayProblem(text));
      },
      looked ? LOOK_MS : 0,
    );
    return () => {
      current = false;
      clearTimeout(timer);
    };
    // What was found before is no reason to look again.
    // oxlint-disable-next-line react-hooks/exhaustive-deps
  }, [id, content, text]);
  return looked;
}

export interface KeptDraft {
  isKept: boolean;
  /** Nothing is kept from here on. */
  settled: () => void;
  /** What is being kept, until that is done. */
  underWay: () => Promise<void>;
}

/** Keeps the draft in the journal, so that it survives whatever ends the window. `waits`: it is being decided whether
 *  something else takes the report's place. */
export function useKeptDraft(id: number, content: string, initial: string, waits = false): KeptDraft {
  const text = useText();
  const cache = useQueryClient();
  const over = useRef(false);
  const [kept, setKept] = useState(initial);
  const keeping = useRef(Promise.resolve());
  const isGone = useRef(false);
  useEffect(() => {
    isGone.current = false;
    return () => {
      isGone.current = true;
    };
  }, []);
  useEffect(() => {
    if (content === kept || waits) return undefined;
    const timer = setTimeout(() => {
      if (over.current) return;
      const done = () => {
        setKept(content);
        // The dialog may be closed by now, and its report decided about.
        if (isGone.current) followDrafts(cache);
      };
      keeping.current = door.call("keep_draft", { id, text: content }).then(done, sayProblem(text));
    }, KEEP_MS);
    return () => clearTimeout(timer);
  }, [id, content, kept, waits, text, cache]);
  return {
    isKept: kept === content,
    settled: () => {
      over.current = true;
    },
    underWay: () => keeping.current,
  };
}

export interface Edits {
  /** The text as it was typed in the source. */
  type: (text: string) => void;
  /** Writes a value of the form into the text. */
  edit: (expression: string, value: string) => void;
  /** The field of this value is empty now: once it is left, its element leaves the text. */
  empty: (expression: string) => void;
  /** The field that was emptied is left. */
  leave: () => void;
  /** Whether there is one. */
  isEmptied: boolean;
  /** Whether something that was typed into the form is still on its way into the text. */
  isUnderWay: boolean;
  /** The value that stays although its field was emptied, and why. */
  stays: { expression: string; why: string } | undefined;
  /** Puts in what is suggested for one element; one step that can be undone. */
  apply: (expression: string) => void;
  /** Replaces the whole text, as one step. */
  replace: (text: string) => void;
  /** The text once everything that was typed into the form is in it; nothing where an emptied value has to stay. */
  settled: () => Promise<string | undefined>;
  /** Grows with each step that is to be undone by itself. */
  steps: number;
}

/** Changes of the text, one after the other: each begins with what the one before has left. */
export function useEdits(content: string, setContent: (text: string) => void): Edits {
  const text = useText();
  const latest = useRef(content);
  const queue = useRef(Promise.resolve());
  const [steps, setSteps] = useState(0);
  const [underWay, setUnderWay] = useState(0);
  const emptied = useRef<string>(undefined);
  const leaving = useRef(Promise.resolve(true));
  const [isEmptied, setEmptied] = useState(false);
  const [stays, setStays] = useState<Edits["stays"]>();
  useEffect(() => {
    latest.current = content;
  }, [content]);
  const then = (change: () => Promise<string>, isStep: boolean) => {
    setUnderWay((count) => count + 1);
    queue.current = queue.current
      .then(change)
      .then((edited) => {
        latest.current = edited;
        if (isStep) setSteps((count) => count + 1);
        setContent(edited);
      })
      .catch(sayProblem(text))
      .finally(() => setUnderWay((count) => count - 1));
  };
  const mark = (expression: string | undefined) => {
    emptied.current = expression;
    setEmptied(expression !== undefined);
  };
  const remove = async (expression: string): Promise<boolean> => {
    let goes = false;
    then(async () => {
      const { text: left, refusal } = await door.call("remove_value", { text: latest.current, expression });
      goes = left !== null;
      if (refusal !== null) setStays({ expression, why: refusal });
      return left ?? latest.current;
    }, true);
    await queue.current;
    // Until then there is something to send: the press that has left the field may be the one on Send.
    setEmptied(emptied.current !== undefined);
    return goes;
  };
  /** Whether what was emptied could go. */
  const leave = (): Promise<boolean> => {
    const expression = emptied.current;
    if (expression !== undefined) {
      emptied.current = undefined;
      leaving.current = remove(expression);
    }
    return leaving.current;
  };
  return {
    type(whole) {
      // At once, not with the next picture: the key that sends it may come before that.
      latest.current = whole;
      setContent(whole);
    },
    edit(expression, value) {
      mark(undefined);
      leaving.current = Promise.resolve(true);
      setStays(undefined);
      then(() => door.call("edit_draft", { text: latest.current, expression, value }), false);
    },
    empty(expression) {
      setStays(undefined);
      mark(expression);
    },
    leave: () => void leave(),
    isEmptied,
    isUnderWay: underWay > 0,
    stays,
    apply: (expression) =>
      then(async () => (await door.call("apply_suggestions", { text: latest.current, only: expression })).text, true),
    async settled() {
      const goes = await leave();
      // Said once; whoever sends again has seen that it stays.
      leaving.current = Promise.resolve(true);
      await queue.current;
      return goes ? latest.current : undefined;
    },
    replace: (whole) => then(() => Promise.resolve(whole), true),
    steps,
  };
}

/** Ctrl+Enter, wherever the keyboard is. It sends what is on the screen: as soon as that is painted, and nothing older. */
export function useSendKey(send: (event: KeyboardEvent) => void): void {
  useLayoutEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) send(event);
    };
    // Before the editor and the dialog see it.
    document.addEventListener("keydown", press, true);
    return () => document.removeEventListener("keydown", press, true);
  });
}

/** Ctrl+Z and Ctrl+Y outside of fields and of the editor, which have their own. */
export function useUndoKeys(undo: () => void, redo: () => void): void {
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const field = event.target instanceof Element && event.target.closest("input, textarea, [data-typing]");
      if (field || !(event.ctrlKey || event.metaKey)) return;
      const key = event.key.toLowerCase();
      if (key === "z") (event.shiftKey ? redo : undo)();
      else if (key === "y") redo();
      else return;
      event.preventDefault();
    };
    document.addEventListener("keydown", press);
    return () => document.removeEventListener("keydown", press);
  });
}
