// The received text with line numbers; lines that a message names are marked.

import { useEffect, useMemo, useRef } from "react";

import { useText } from "../i18n/text";
import type { Pointer } from "../place";
import { showInside } from "../kit/scroll";
import css from "./source-text.module.css";

/** Lines put on the screen; a longer text is cut around the line in question. */
const LINES_MAX = 4000;

export function SourceText(props: { source: string; lines: number[]; pointer: Pointer }) {
  const { source, lines, pointer } = props;
  const { line } = pointer;
  const text = useText();
  const box = useRef<HTMLDivElement>(null);
  const all = useMemo(() => source.split("\n"), [source]);
  const start =
    line !== null && line > LINES_MAX / 2 ? Math.min(line - LINES_MAX / 2, Math.max(0, all.length - LINES_MAX)) : 0;
  const marked = new Set(lines);
  useEffect(() => {
    if (pointer.line !== null) showInside(box.current?.querySelector(`[data-line="${pointer.line}"]`));
  }, [pointer]);
  return (
    // A region that scrolls must be reachable by keyboard.
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    <div
      ref={box}
      className={`${css.source} selectable`}
      tabIndex={0}
      role="region"
      aria-label={text("detail.tab.source")}
    >
      {all.slice(start, start + LINES_MAX).map((content, at) => {
        const number = start + at + 1;
        return (
          <div
            key={number}
            data-line={number}
            className={`${css.line} ${marked.has(number) ? css.marked : ""} ${number === line ? css.shown : ""}`}
          >
            <span className={css.number} data-number={number} aria-hidden />
            <code>{content || " "}</code>
          </div>
        );
      })}
    </div>
  );
}
