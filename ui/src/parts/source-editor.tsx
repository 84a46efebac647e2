// The source of a report, to be changed: line numbers, colours, and a mark at every line that something is said of.
// It stands in a shadow root: there its style sheets are adopted, which the content security policy permits.

import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { json } from "@codemirror/lang-json";
import { xml } from "@codemirror/lang-xml";
import { HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import { lintGutter, setDiagnostics } from "@codemirror/lint";
import { highlightSelectionMatches, searchKeymap } from "@codemirror/search";
import { EditorState } from "@codemirror/state";
import { EditorView, drawSelection, highlightActiveLine, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { useEffect, useRef, useState } from "react";

import css from "./source-editor.module.css";

/** Something said of a line. */
export interface Mark {
  line: number;
  severity: "error" | "warning" | "info";
  text: string;
}

const LOOK = EditorView.theme({
  "&": { height: "100%", color: "var(--text)", backgroundColor: "var(--surface-raised)", fontSize: "0.8125rem" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.5" },
  ".cm-content": { caretColor: "var(--text)" },
  ".cm-cursor": { borderLeftColor: "var(--text)" },
  ".cm-gutters": { color: "var(--text-quiet)", backgroundColor: "var(--surface-sunken)", border: "none" },
  ".cm-activeLine": { backgroundColor: "color-mix(in srgb, var(--surface-selected) 45%, transparent)" },
  "&.cm-focused .cm-selectionBackground, .cm-selectionBackground": { backgroundColor: "var(--surface-selected)" },
  ".cm-tooltip": { color: "var(--text)", backgroundColor: "var(--surface-raised)", border: "1px solid var(--line-strong)" },
  ".cm-panels": { color: "var(--text)", backgroundColor: "var(--surface-sunken)" },
});

const COLOURS = HighlightStyle.define([
  { tag: [tags.propertyName, tags.tagName, tags.attributeName], color: "var(--link)" },
  { tag: [tags.string, tags.attributeValue], color: "var(--done)" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--doubt)" },
  { tag: tags.comment, color: "var(--text-quiet)" },
]);

interface Props {
  label: string;
  value: string;
  format: string;
  marks: Mark[];
  /** Line shown at first. */
  line: number | null;
  onChange: (value: string) => void;
}

export function SourceEditor({ label, value, format, marks, line, onChange }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const editor = useRef<EditorView>(null);
  const changed = useRef(onChange);
  useEffect(() => {
    changed.current = onChange;
  });
  const [first] = useState({ value, line, label, format });
  useEffect(() => {
    if (!box.current) return undefined;
    const root = box.current.shadowRoot ?? box.current.attachShadow({ mode: "open" });
    const view = new EditorView({
      root,
      parent: root,
      state: EditorState.create({
        doc: first.value,
        extensions: [
          lineNumbers(),
          lintGutter(),
          history(),
          drawSelection(),
          highlightActiveLine(),
          highlightSelectionMatches(),
          first.format === "xml" ? xml() : json(),
          syntaxHighlighting(COLOURS),
          LOOK,
          // Tab leaves the editor, as everywhere in the window; Ctrl+Enter sends.
          keymap.of([{ key: "Mod-Enter", run: () => true }, ...searchKeymap, ...historyKeymap, ...defaultKeymap]),
          EditorView.contentAttributes.of({ "aria-label": first.label, "data-testid": "correct-text", tabindex: "0" }),
          EditorView.updateListener.of((update) => update.docChanged && changed.current(update.state.doc.toString())),
        ],
      }),
    });
    editor.current = view;
    // Escape is the editor's (it ends a search); it must not close the dialog around it.
    const keep = (event: KeyboardEvent) => event.key === "Escape" && event.stopPropagation();
    box.current.addEventListener("keydown", keep);
    const at = first.line === null ? null : view.state.doc.line(Math.min(first.line, view.state.doc.lines));
    if (at) view.dispatch({ selection: { anchor: at.from }, effects: EditorView.scrollIntoView(at.from, { y: "center" }) });
    return () => {
      view.destroy();
      editor.current = null;
    };
  }, [first]);
  useEffect(() => {
    const view = editor.current;
    if (!view || view.state.doc.toString() === value) return;
    // Only what differs is replaced, so that cursor and history of the editor stay sensible.
    const old = view.state.doc.toString();
    let from = 0;
    while (from < Math.min(old.length, value.length) && old[from] === value[from]) from += 1;
    let tail = 0;
    while (tail < Math.min(old.length, value.length) - from && old.at(-1 - tail) === value.at(-1 - tail)) tail += 1;
    view.dispatch({
      changes: { from, to: old.length - tail, insert: value.slice(from, value.length - tail) },
      effects: EditorView.scrollIntoView(from, { y: "center" }),
    });
  }, [value]);
  useEffect(() => {
    const view = editor.current;
    if (!view) return;
    const { doc } = view.state;
    const found = marks.filter((mark) => mark.line >= 1 && mark.line <= doc.lines);
    view.dispatch(
      setDiagnostics(
        view.state,
        found.map(({ line: number, severity, text }) => {
          const at = doc.line(number);
          return { from: at.from + (at.text.search(/\S/) + 1 || 1) - 1, to: at.to, severity, message: text };
        }),
      ),
    );
  }, [marks]);
  return <div ref={box} className={css.editor} data-typing />;
}
