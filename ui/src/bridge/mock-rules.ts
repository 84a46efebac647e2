// Packages of rules of the made-up core.

import type { RowView } from "./generated/RowView";
import type { RulesEntry } from "./generated/RulesEntry";
import type { RulesPlanView } from "./generated/RulesPlanView";
import { masked } from "./mock-data";
import { foundIn } from "./mock-draft";

export const packaged = (name: string, version: string, now: number, inUse: boolean): RulesEntry => ({
  name,
  version,
  definitions: 431,
  imported: new Date(now - 86_400_000).toISOString(),
  digest: "9f".repeat(32),
  inUse,
  outdated: false,
  missing: [],
});

/** As if three of the last reports would be held. */
export function planned(name: string, rows: RowView[]): RulesPlanView {
  const reports = rows.slice(0, 3).map((row) => ({ ...row, patient: row.patient && masked(row.patient) }));
  const reasons = foundIn('"Schweiz" "Basel-Stadt"')
    .slice(0, 2)
    .map((message, at) => ({ message, reports: reports.length - at }));
  return {
    package: name,
    inUse: "ch.fhir.ig.ch-elm@1.14.0",
    looked: rows.length,
    refused: reports.length,
    accepted: 1,
    still: 2,
    reasons,
    reports,
  };
}
