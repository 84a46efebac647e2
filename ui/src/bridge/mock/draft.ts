// What the made-up core finds in a draft: enough to look at every form that a finding has in the window.

import type { FormFieldView } from "../generated/FormFieldView";
import type { MessageView } from "../generated/MessageView";
import type { PrivacyView } from "../generated/PrivacyView";
import { BLANK } from "./messages";

const lineOf = (text: string, part: string) => text.slice(0, text.indexOf(part)).split("\n").length;

const ADDRESS = "Bundle.entry[1].resource.address[0]";

/** Findings of each kind, as long as what they are about stands in the text. */
export function foundIn(text: string): MessageView[] {
  const about = (part: string, message: Partial<MessageView>): MessageView[] => {
    if (!text.includes(part)) return [];
    return [{ ...BLANK, line: lineOf(text, part), column: null, ...message }];
  };
  return [
    ...about('"Schweiz"', {
      code: "rule-code-not-in-value-set",
      params: { element: "country", value: "Schweiz", "value-set": "http://hl7.org/fhir/ValueSet/iso3166-1-2" },
      expression: `${ADDRESS}.country`,
      path: "Patient.address.country",
      found: "Schweiz",
      suggestion: { expression: `${ADDRESS}.country`, path: "Patient.address.country", before: "Schweiz", value: "CH" },
    }),
    ...about('"Basel-Stadt"', {
      code: "rule-invariant",
      severity: "warning",
      rule: "ch-addr-2",
      params: { rule: "ch-addr-2", text: "For a Swiss address, a canton abbreviation must be used." },
      expression: `${ADDRESS}.state`,
      path: "Patient.address.state",
      found: "Basel-Stadt",
      suggestion: { expression: `${ADDRESS}.state`, path: "Patient.address.state", before: "Basel-Stadt", value: "BS" },
    }),
    ...about('"Swab"', {
      code: "rule-invariant",
      rule: "lab-own-7",
      params: { rule: "lab-own-7", text: "A specimen SHALL have a coded type." },
      expression: "Bundle.entry[3].resource",
      path: "Specimen",
    }),
  ];
}

/** The values that they are about. */
export function fieldsOf(text: string): FormFieldView[] {
  const found = foundIn(text);
  const field = (path: string, name: string): FormFieldView[] => {
    const value = new RegExp(`"${name}": "([^"]*)"`).exec(text)?.[1];
    if (value === undefined) return [];
    const messages = found.flatMap((message, at) => (message.path === path ? [at] : []));
    return [
      {
        expression: `${ADDRESS}.${name}`,
        path,
        value,
        line: lineOf(text, `"${name}"`),
        choices: [],
        id: null,
        display: null,
        messages,
      },
    ];
  };
  return [...field("Patient.address.country", "country"), ...field("Patient.address.state", "state")];
}

/** What the authority would see of the patient: initials, and no street. */
export function privacyOf(text: string): PrivacyView | null {
  const name = /"text": "([^"]*)"/.exec(text)?.[1] ?? "";
  const [now, seen] = [["Rebgasse 14, 4057 Basel, BS, CH"], ["4057 Basel, BS, CH"]];
  return {
    permitted: "initials",
    because: "Neisseria gonorrhoeae",
    patient: "Bundle.entry[1].resource",
    tooMuch: true,
    rows: [
      { key: "patient.name", now: [name], seen: [name.replace(/(\p{L})\p{L}+/gu, "$1")] },
      { key: "patient.birth-date", now: ["1984-02-11"], seen: ["1984-02-11"] },
      { key: "patient.address", now, seen },
      { key: "patient.telecom", now: ["+41 61 000 00 00"], seen: [] },
    ],
  };
}
