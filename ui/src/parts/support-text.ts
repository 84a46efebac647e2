// What an authority's support needs to find a report: its identifiers, when what happened, and the authority's own words. No
// patient, no file name, no document.

import type { DetailView } from "../bridge/generated/DetailView";
import type { Text } from "../i18n/text";

/** One fact a line, the times in UTC as they are kept. */
export function supportText(text: Text, view: DetailView): string {
  const { row } = view;
  const facts: [string, string | number | null | undefined][] = [
    [text("rail.environment"), `${row.environment} · ${row.endpoint}`],
    [text("detail.receipt"), view.receipt],
    [text("detail.identifier"), view.identifier],
    [text("detail.document-identifier"), row.documentIdentifier],
    [text("detail.digest"), view.digest],
    [text("ask.status"), text.code(`state.${row.state}`) ?? row.state],
    [text("detail.attempts"), view.attempts],
  ];
  const events = view.timeline.map(({ at, event, evidence }) =>
    [at, text.code(`event.${event}`) ?? event, evidence?.httpStatus && `HTTP ${evidence.httpStatus}`]
      .filter(Boolean)
      .join("\t"),
  );
  const said = view.messages
    .filter(({ source }) => source === "authority")
    .map(({ severity, code, rule, text: own, expression }) =>
      [severity, rule ?? code, own, expression].filter(Boolean).join("\t"),
    );
  const named = facts.filter(([, value]) => value).map(([name, value]) => `${name}: ${value}`);
  return [named, events, said]
    .filter((part) => part.length > 0)
    .map((part) => part.join("\n"))
    .join("\n\n");
}
