// Packages of rules of the made-up core.

import type { RowView } from "../generated/RowView";
import type { RulesEntry } from "../generated/RulesEntry";
import type { RulesPlanView } from "../generated/RulesPlanView";
import type { Answers } from "./answers";
import { foundIn } from "./draft";
import type { Journal } from "./journal";
import { masked } from "./reports";

export function createRules({ rows }: Journal, now: number) {
  let rules: RulesEntry[] = [
    packaged("ch.fhir.ig.ch-elm", "1.14.0", now, true),
    {
      ...packaged("ch.fhir.ig.ch-elm", "1.15.0", now, false),
      missing: [{ name: "ch.fhir.ig.ch-term", wanted: "3.4.x", instead: "3.3.0" }],
    },
    packaged("hl7.fhir.r4.core", "4.0.1", now, false),
  ];
  const answers = {
    rules: () => rules,
    import_rules({ path }) {
      const name = path
        .split("/")
        .at(-1)
        ?.replace(/-[\d.]+\.tgz$/, "");
      const entry = packaged(name ?? "", "3.3.0", now, false);
      rules = [...rules.filter((one) => one.name !== entry.name || one.version !== entry.version), entry];
      return entry;
    },
    plan_rules: ({ package: name }) => planned(name, rows),
    use_rules({ package: name }) {
      rules = rules.map((one) => ({ ...one, inUse: `${one.name}@${one.version}` === name }));
      return rules.find((one) => one.inUse) ?? packaged(name, "", now, true);
    },
    remove_rules({ package: name }) {
      rules = rules.filter((one) => `${one.name}@${one.version}` !== name);
      return null;
    },
  } satisfies Partial<Answers>;
  return { answers };
}

const packaged = (name: string, version: string, now: number, inUse: boolean): RulesEntry => ({
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
function planned(name: string, rows: readonly RowView[]): RulesPlanView {
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
