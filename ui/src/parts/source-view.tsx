// The source of a report, to be read: line numbers, colours, a mark at every value that something is said of, parts that
// fold, and search. It stands in a shadow root, as the editor does. What is not in sight is not drawn, so that a report of
// five megabytes opens as quickly as a short one.

import { defaultKeymap } from "@codemirror/commands";
import { codeFolding, foldGutter, foldKeymap } from "@codemirror/language";
import { lintGutter, nextDiagnostic, previousDiagnostic, setDiagnostics } from "@codemirror/lint";
import { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
import { EditorState } from "@codemirror/state";
import { EditorView, drawSelection, highlightActiveLine, keymap, lineNumbers } from "@codemirror/view";
import { useEffect, useRef } from "react";

import { useText } from "../i18n/text";
import { showInside } from "../kit/scroll";
import type { Pointer } from "../place";
import { basics, diagnosticsOf } from "./source-code";
import type { Mark } from "./source-code";
import css from "./source-text.module.css";

/** As high as its text, up to half of what most screens show. */
const BOUNDED = EditorView.theme({ "&": { maxHeight: "32rem" }, ".cm-scroller": { overflow: "auto" } });

export function SourceView(props: { source: string; format: string; marks: Mark[]; pointer: Pointer }) {
  const { source, format, marks, pointer } = props;
  const text = useText();
  const box = useRef<HTMLDivElement>(null);
  const shown = useRef<EditorView>(null);
  useEffect(() => {
    const host = box.current;
    if (!host) return undefined;
    const root = host.shadowRoot ?? host.attachShadow({ mode: "open" });
    const view = new EditorView({
      root,
      parent: root,
      state: EditorState.create({
        doc: source,
        extensions: [
          EditorState.readOnly.of(true),
          lineNumbers(),
          codeFolding(),
          foldGutter(),
          lintGutter(),
          drawSelection(),
          highlightActiveLine(),
          highlightSelectionMatches(),
          search({ top: true }),
          basics(format, text),
          BOUNDED,
          // Tab leaves it, as everywhere in the window.
          keymap.of([
            { key: "F8", run: nextDiagnostic, shift: previousDiagnostic },
            ...searchKeymap,
            ...foldKeymap,
            ...defaultKeymap,
          ]),
          EditorView.contentAttributes.of({
            "aria-label": text("detail.tab.source"),
            "aria-readonly": "true",
            "data-testid": "source-text",
            tabindex: "0",
          }),
        ],
      }),
    });
    shown.current = view;
    return () => {
      view.destroy();
      shown.current = null;
    };
  }, [source, format, text]);
  useEffect(() => {
    const view = shown.current;
    view?.dispatch(setDiagnostics(view.state, diagnosticsOf(view.state, marks)));
  }, [source, format, text, marks]);
  useEffect(() => {
    const view = shown.current;
    if (!view || pointer.line === null) return;
    const { from } = view.state.doc.line(Math.min(Math.max(pointer.line, 1), view.state.doc.lines));
    showInside(box.current);
    view.dispatch({ selection: { anchor: from }, effects: EditorView.scrollIntoView(from, { y: "center" }) });
  }, [source, format, text, pointer]);
  return <div ref={box} className={`${css.source} selectable`} data-typing />;
}
