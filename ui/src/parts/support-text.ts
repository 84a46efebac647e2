// What an authority's support needs to find a report: its identifiers, when what happened, and the authority's own words. No
// patient, no file name, no document.

import type { DetailView } from "../bridge/generated/DetailView";
import type { Text } from "../i18n/text";
import { hiding, initialOf } from "./veil";

/** One fact a line, the times in UTC as they are kept. */
export function supportText(text: Text, view: DetailView): string {
  const { row, birthDate } = view;
  // The authority may quote whom a report is about. What is copied goes out of this window, whatever is shown in it.
  const nameless = hiding(row.patient);
  const hide = (own: string) => {
    const unnamed = nameless(own);
    return birthDate ? unnamed.replaceAll(birthDate, initialOf(birthDate)) : unnamed;
  };
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
      [severity, rule ?? code, own && hide(own), expression].filter(Boolean).join("\t"),
    );
  const named = facts.filter(([, value]) => value).map(([name, value]) => `${name}: ${value}`);
  return [named, events, said]
    .filter((part) => part.length > 0)
    .map((part) => part.join("\n"))
    .join("\n\n");
}
