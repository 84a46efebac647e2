// What the text of a report looks like, to be read and to be changed: colours, marks, and the words of its panels.

import { json } from "@codemirror/lang-json";
import { xml } from "@codemirror/lang-xml";
import { HighlightStyle, ensureSyntaxTree, syntaxHighlighting } from "@codemirror/language";
import type { Diagnostic } from "@codemirror/lint";
import { EditorState } from "@codemirror/state";
import type { Extension } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import { tags } from "@lezer/highlight";

import type { Text, TextId } from "../i18n/text";

/** Something said of a place. */
export interface Mark {
  line: number;
  /** Character of the line, from 1, where the value begins. */
  column: number | null;
  severity: "error" | "warning" | "info";
  text: string;
  /** What is suggested instead: a button in the note. */
  cure: { name: string; act: () => void } | null;
}

const LOOK = EditorView.theme({
  "&": { color: "var(--text)", backgroundColor: "var(--surface-raised)", fontSize: "0.8125rem" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.5" },
  ".cm-content": { caretColor: "var(--text)" },
  ".cm-cursor": { borderLeftColor: "var(--text)" },
  ".cm-gutters": { color: "var(--text-quiet)", backgroundColor: "var(--surface-sunken)", border: "none" },
  ".cm-activeLine": { backgroundColor: "color-mix(in srgb, var(--surface-selected) 45%, transparent)" },
  "&.cm-focused .cm-selectionBackground, .cm-selectionBackground": { backgroundColor: "var(--surface-selected)" },
  ".cm-tooltip": {
    color: "var(--text)",
    backgroundColor: "var(--surface-raised)",
    border: "1px solid var(--line-strong)",
  },
  ".cm-diagnostic": { maxWidth: "32rem", padding: "0.35rem 0.6rem", fontFamily: "var(--font)", fontSize: "0.875rem" },
  ".cm-diagnostic-error": { borderLeftColor: "var(--attention)" },
  ".cm-diagnostic-warning": { borderLeftColor: "var(--caution)" },
  ".cm-diagnostic-info": { borderLeftColor: "var(--progress)" },
  ".cm-diagnosticAction": {
    padding: "0.15rem 0.6rem",
    color: "var(--text)",
    backgroundColor: "var(--surface-sunken)",
    border: "1px solid var(--line-strong)",
    borderRadius: "var(--radius)",
    fontSize: "0.875rem",
    cursor: "pointer",
  },
  ".cm-panel.cm-search": { padding: "0.4rem 2.5rem 0.4rem 0.6rem", fontFamily: "var(--font)", fontSize: "0.8125rem" },
  ".cm-panel.cm-search input, .cm-panel.cm-search button, .cm-panel.cm-search label": { fontSize: "inherit" },
  ".cm-panel.cm-search label": { display: "inline-flex", alignItems: "center", minHeight: "2rem" },
  ".cm-textfield, .cm-panel .cm-button": {
    minHeight: "2rem",
    padding: "0.15rem 0.6rem",
    color: "var(--text)",
    background: "var(--surface-raised)",
    border: "1px solid var(--line-strong)",
    borderRadius: "var(--radius)",
  },
  ".cm-panel.cm-search [name=close]": { minWidth: "2rem", minHeight: "2rem", fontSize: "1.1rem", cursor: "pointer" },
  ".cm-foldPlaceholder": {
    color: "var(--text)",
    backgroundColor: "var(--surface-sunken)",
    border: "1px solid var(--line-strong)",
  },
  ".cm-panels": { color: "var(--text)", backgroundColor: "var(--surface-sunken)" },
});

const COLOURS = HighlightStyle.define([
  { tag: [tags.propertyName, tags.tagName, tags.attributeName], color: "var(--link)" },
  { tag: [tags.string, tags.attributeValue], color: "var(--done)" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--doubt)" },
  { tag: tags.comment, color: "var(--text-quiet)" },
]);

/** Words that CodeMirror has in English, and ours for them. */
const PHRASES: [string, TextId][] = [
  ["Find", "editor.find"],
  ["Replace", "editor.replace"],
  ["next", "editor.next"],
  ["previous", "editor.previous"],
  ["all", "editor.all"],
  ["match case", "editor.match-case"],
  ["regexp", "editor.regexp"],
  ["by word", "editor.by-word"],
  ["replace", "editor.replace-one"],
  ["replace all", "editor.replace-all"],
  ["replaced match on line $", "editor.replaced-one"],
  ["replaced $ matches", "editor.replaced-all"],
  ["close", "action.close"],
  ["current match", "editor.current"],
  ["on line", "editor.on-line"],
  ["Go to line", "editor.go-to-line"],
  ["go", "editor.go"],
  ["Folded lines", "editor.folded"],
  ["Unfolded lines", "editor.unfolded"],
  ["to", "editor.to"],
  ["folded code", "editor.folded-part"],
  ["unfold", "editor.unfold"],
  ["Fold line", "editor.fold-line"],
  ["Unfold line", "editor.unfold"],
  ["Control character", "editor.control-character"],
  ["Selection deleted", "editor.deleted"],
];

/** What every view of a source has. */
export function basics(format: string, text: Text): Extension {
  return [
    format === "xml" ? xml() : json(),
    syntaxHighlighting(COLOURS),
    LOOK,
    EditorState.phrases.of(Object.fromEntries(PHRASES.map(([phrase, id]) => [phrase, text(id)]))),
  ];
}

/** The marks at their values. A long text is parsed only as far as there is time for: a mark further down goes to the end
 *  of its line. */
export function diagnosticsOf(state: EditorState, marks: Mark[]): Diagnostic[] {
  const until = performance.now() + PARSE_MS;
  const found = marks.filter((mark) => mark.line >= 1 && mark.line <= state.doc.lines);
  return found.map((mark) => diagnostic(state, mark, Math.max(0, until - performance.now())));
}

/** Longest wait for the text to be parsed, in milliseconds. */
const PARSE_MS = 50;

/** The mark at its value: from its first character to its last one in that line. */
function diagnostic(state: EditorState, { line, column, severity, text, cure }: Mark, wait: number): Diagnostic {
  const at = state.doc.line(line);
  const blank = Math.max(0, at.text.search(/\S/));
  // The core counts whole characters, the editor halves of a pair.
  const before = column === null ? blank : [...at.text].slice(0, column - 1).join("").length;
  const from = Math.min(at.from + before, at.to);
  const node = ensureSyntaxTree(state, at.to, wait)?.resolveInner(from, 1);
  const to = Math.min(at.to, node && node.from === from && node.to > from ? node.to : at.to);
  const actions = cure ? [{ name: cure.name, apply: cure.act }] : [];
  return { from, to, severity, message: text, actions };
}
