// Messages of made-up reports: what was found on this computer, and what the authority says.

import type { MessageView } from "../generated/MessageView";
import type { State } from "../generated/State";

export const BLANK: MessageView = {
  source: "local",
  severity: "error",
  code: "invalid-value",
  rule: null,
  text: null,
  params: {},
  expression: null,
  line: null,
  column: null,
  section: null,
  field: null,
  path: null,
  found: null,
  suggestion: null,
};

export const UNKNOWN_CODE: MessageView = {
  ...BLANK,
  source: "authority",
  code: "business-rule",
  rule: "FOPH-012",
  text: "The transmitted leading code 99999-9 (http://loinc.org) could not be found in the current value set.",
  expression: "Bundle.entry[3].resource.code.coding[0]",
  line: 27,
  column: 15,
  section: 2,
  field: "observation.code",
};

const MATERIAL: MessageView = {
  ...UNKNOWN_CODE,
  rule: "FOPH-007",
  text: "The specified material is not supported by the provided leading code.",
  expression: "Bundle.entry[4].resource.type",
  line: 38,
  section: 3,
  field: "specimen.type",
};

export const WRONG_DATE: MessageView = {
  ...BLANK,
  code: "invalid-value",
  source: "base",
  params: { element: "birthDate", type: "date", value: "31.02.1984" },
  expression: "Bundle.entry[1].resource.birthDate",
  line: 17,
  section: 1,
  field: "patient.birth-date",
};

export const MALFORMED: MessageView = {
  ...BLANK,
  code: "identifier-uuid-malformed",
  severity: "warning",
  params: { value: "urn:uuid:1fa2c3d4-90ab-4cde-8f01-23456789zzzz" },
  expression: "Bundle.identifier",
  line: 4,
};

export const PLACE: MessageView = {
  ...UNKNOWN_CODE,
  severity: "warning",
  code: "value",
  rule: "FOPH-017",
  text: "The combination of postal code & city in the patient address element could not be found in the FOPH location database.",
  expression: "Bundle.entry[1].resource.address[0]",
  line: 19,
  section: 1,
  field: "patient.address",
};

/** What keeps a report of that state from going on. */
export function messageFor(state: State, at: number): MessageView | null {
  if (state === "held") return WRONG_DATE;
  if (state === "rejected") return MATERIAL;
  if (state === "failed") return at % 3 === 1 ? UNKNOWN_CODE : MATERIAL;
  return null;
}
