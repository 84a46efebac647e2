// The source of a report, to be changed: line numbers, colours, and a mark at every value that something is said of.
// It stands in a shadow root: there its style sheets are adopted, which the content security policy permits.

import {
  defaultKeymap,
  history as undoable,
  historyKeymap,
  isolateHistory,
  redo,
  redoDepth,
  undo,
  undoDepth,
} from "@codemirror/commands";
import { lintGutter, setDiagnostics } from "@codemirror/lint";
import { highlightSelectionMatches, searchKeymap } from "@codemirror/search";
import { Annotation, EditorState } from "@codemirror/state";
import { EditorView, drawSelection, highlightActiveLine, keymap, lineNumbers } from "@codemirror/view";
import { useEffect, useImperativeHandle, useRef, useState } from "react";
import type { Ref } from "react";

import { useText } from "../i18n/text";
import { basics, diagnosticsOf } from "./source-code";
import type { Mark } from "./source-code";
import css from "./source-editor.module.css";

/** The history of the editor, which every change of the text goes into, wherever it comes from. */
export interface History {
  undo: () => void;
  redo: () => void;
}

/** It fills its place. */
const FILLING = EditorView.theme({ "&": { height: "100%" } });

/** A change that came from the form or a suggestion. */
const OUTSIDE = Annotation.define<boolean>();

interface Props {
  label: string;
  /** The text before anything was changed: the history begins with it, however late the editor has loaded. */
  began: string;
  value: string;
  format: string;
  marks: Mark[];
  /** Grows with each change from outside that is to be undone by itself. */
  steps: number;
  /** Line in sight; asked for anew with each number. */
  place: { line: number | null; asked: number };
  history: Ref<History>;
  onHistory: (depth: { undo: number; redo: number }) => void;
  onChange: (value: string) => void;
}

/** A line that is brought to the middle moves the editor alone, not the dialog around it, where somebody types in the form. */
const ALONE = EditorView.scrollHandler.of((view, { head }, { y }) => {
  if (y !== "center") return false;
  const { top, height } = view.lineBlockAt(head);
  view.scrollDOM.scrollTop = top - (view.scrollDOM.clientHeight - height) / 2;
  return true;
});

export function SourceEditor(props: Props) {
  const { label, began, value, format, marks, steps, place, history, onHistory, onChange } = props;
  const text = useText();
  const box = useRef<HTMLDivElement>(null);
  const editor = useRef<EditorView>(null);
  /** Texts that were typed and have not come back as the value yet. */
  const echoes = useRef<string[]>([]);
  const told = useRef({ onChange, onHistory });
  useEffect(() => {
    told.current = { onChange, onHistory };
  });
  useImperativeHandle(history, () => {
    const act = (command: typeof undo) => () => void (editor.current && command(editor.current));
    return { undo: act(undo), redo: act(redo) };
  }, []);
  const [first] = useState({ began, line: place.line, label, format, text });
  useEffect(() => {
    if (!box.current) return undefined;
    const root = box.current.shadowRoot ?? box.current.attachShadow({ mode: "open" });
    const view = new EditorView({
      root,
      parent: root,
      state: EditorState.create({
        doc: first.began,
        extensions: [
          lineNumbers(),
          lintGutter(),
          undoable(),
          drawSelection(),
          highlightActiveLine(),
          highlightSelectionMatches(),
          basics(first.format, first.text),
          FILLING,
          ALONE,
          // Tab leaves the editor, as everywhere in the window; Ctrl+Enter sends.
          keymap.of([{ key: "Mod-Enter", run: () => true }, ...searchKeymap, ...historyKeymap, ...defaultKeymap]),
          EditorView.contentAttributes.of({ "aria-label": first.label, "data-testid": "correct-text", tabindex: "0" }),
          EditorView.updateListener.of(({ docChanged, state, transactions }) => {
            if (!docChanged) return;
            told.current.onHistory({ undo: undoDepth(state), redo: redoDepth(state) });
            if (transactions.some((one) => one.annotation(OUTSIDE))) return;
            const typed = state.doc.toString();
            echoes.current.push(typed);
            told.current.onChange(typed);
          }),
        ],
      }),
    });
    editor.current = view;
    // Escape is the editor's (it ends a search); it must not close the dialog around it.
    const keep = (event: KeyboardEvent) => event.key === "Escape" && event.stopPropagation();
    box.current.addEventListener("keydown", keep);
    const at = first.line === null ? null : view.state.doc.line(Math.min(first.line, view.state.doc.lines));
    if (at)
      view.dispatch({ selection: { anchor: at.from }, effects: EditorView.scrollIntoView(at.from, { y: "center" }) });
    return () => {
      view.destroy();
      editor.current = null;
    };
  }, [first]);
  const taken = useRef(0);
  useEffect(() => {
    const view = editor.current;
    // What was typed comes back as the value, perhaps after more was typed: it must not take the place of that.
    const echo = echoes.current.indexOf(value);
    if (echo >= 0) echoes.current.splice(0, echo + 1);
    if (!view || echo >= 0 || view.state.doc.toString() === value) return;
    const isStep = taken.current !== steps;
    taken.current = steps;
    // Only what differs is replaced, so that cursor and history of the editor stay sensible.
    const old = view.state.doc.toString();
    let from = 0;
    while (from < Math.min(old.length, value.length) && old[from] === value[from]) from += 1;
    let tail = 0;
    while (tail < Math.min(old.length, value.length) - from && old.at(-1 - tail) === value.at(-1 - tail)) tail += 1;
    view.dispatch({
      changes: { from, to: old.length - tail, insert: value.slice(from, value.length - tail) },
      effects: EditorView.scrollIntoView(from, { y: "center" }),
      annotations: [OUTSIDE.of(true), ...(isStep ? [isolateHistory.of("full")] : [])],
    });
  }, [value, steps]);
  useEffect(() => {
    const view = editor.current;
    if (!view || place.asked === 0 || place.line === null) return;
    const at = view.state.doc.line(Math.min(Math.max(place.line, 1), view.state.doc.lines));
    view.dispatch({ selection: { anchor: at.from }, effects: EditorView.scrollIntoView(at.from, { y: "center" }) });
  }, [place]);
  useEffect(() => {
    const view = editor.current;
    if (!view) return;
    view.dispatch(setDiagnostics(view.state, diagnosticsOf(view.state, marks)));
  }, [marks]);
  return <div ref={box} className={css.editor} data-typing />;
}
