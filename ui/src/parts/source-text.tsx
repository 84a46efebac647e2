// The received text, with a mark at what a message names. What draws it is large, and loaded when it is first looked at.

import { Suspense, lazy, useMemo } from "react";

import type { DetailView } from "../bridge/generated/DetailView";
import type { MessageView } from "../bridge/generated/MessageView";
import { useText } from "../i18n/text";
import type { Pointer } from "../place";
import { sentenceOf } from "./said";
import css from "./source-text.module.css";

const SourceView = lazy(async () => ({ default: (await import("./source-view")).SourceView }));

/** How a mark looks. */
const SEVERITIES = { error: "error", warning: "warning", information: "info" } as const;

/** Line of the text, from 1, that a message concerns: that of its value, where it is known, else the one that it names. */
export function lineOf(view: DetailView, { section, field, line }: MessageView): number | null {
  const of = section === null ? undefined : view.sections[section];
  return of?.fields.find(({ key }) => key === field)?.line ?? line;
}

export function SourceText({ view, pointer }: { view: DetailView; pointer: Pointer }) {
  const text = useText();
  const marks = useMemo(
    () =>
      view.messages.flatMap((message) => {
        const line = lineOf(view, message);
        if (line === null) return [];
        const column = line === message.line ? message.column : null;
        const severity = SEVERITIES[message.severity];
        return [{ line, column, severity, text: sentenceOf(text, message), cure: null }];
      }),
    [view, text],
  );
  return (
    <Suspense fallback={<div className={css.source} />}>
      <SourceView source={view.source} format={view.format} marks={marks} pointer={pointer} />
    </Suspense>
  );
}
