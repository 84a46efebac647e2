// Everything about one made-up report: its sections, its source and what has happened to it.

import type { DetailView } from "../generated/DetailView";
import type { EventCode } from "../generated/EventCode";
import type { FieldKey } from "../generated/FieldKey";
import type { ResultView } from "../generated/ResultView";
import type { RowView } from "../generated/RowView";
import type { SectionView } from "../generated/SectionView";
import type { TimelineView } from "../generated/TimelineView";
import { PLACE } from "./messages";

function sectionsOf(of: RowView): SectionView[] {
  const field = (key: FieldKey, value: string, line: number, code: string | null = null, family?: string) => ({
    key,
    label: null,
    technical: key.endsWith(".identifier"),
    value,
    coded: family ? [{ own: value, isOurs: false, id: `${family}.${code}` }] : [],
    detail: code,
    expression: `Bundle.${key}`,
    line,
  });
  return [
    {
      resource: "Composition",
      expression: "Bundle.entry[0].resource",
      fields: [
        field("composition.title", "Laboratory report", 9),
        field("composition.date", "2026-11-20T08:14:00+01:00", 10),
        field("composition.author", of.laboratory ?? "", 11),
        field("composition.identifier", of.documentIdentifier ?? "", 12),
      ],
    },
    {
      resource: "Patient",
      expression: "Bundle.entry[1].resource",
      fields: [
        field("patient.name", of.patient ?? "", 16),
        field("patient.birth-date", of.state === "held" ? "31.02.1984" : "1984-02-11", 17),
        field("patient.gender", "female", 18),
        field("patient.address", "Rebgasse 14, 4057 Basel, BS, CH", 19, "home"),
      ],
    },
    {
      resource: "Observation",
      expression: "Bundle.entry[3].resource",
      fields: [
        field("observation.code", of.subject ?? "", 27, of.code),
        field("observation.value", "Positive", 28, "10828004", "snomed"),
        field("observation.interpretation", "Positive", 29, "POS", "interpretation"),
        field("observation.effective", "2026-11-19T16:40:00+01:00", 30),
      ],
    },
    {
      resource: "Specimen",
      expression: "Bundle.entry[4].resource",
      fields: [
        field("specimen.type", "Swab", 38, "257261003", "snomed"),
        field("specimen.collected", "2026-11-19T10:05:00+01:00", 39),
      ],
    },
    {
      resource: "Organization",
      expression: "Bundle.entry[5].resource",
      fields: [
        field("organization.name", of.laboratory ?? "", 44),
        field("organization.identifier", "7601000000000", 45, "urn:oid:2.51.1.3"),
      ],
    },
  ];
}

function resultOf({ subject, code, disease, test, specimen }: RowView): ResultView {
  const found = { value: "Positive", outcome: "positive" as const, interpretation: "Positive", absent: null };
  const place = { expression: "Bundle.entry[3].resource", line: 27 };
  const coded = (id: string) => ({ own: "Positive", isOurs: false, id });
  const ids = {
    nameCoded: null,
    valueCoded: coded("snomed.10828004"),
    interpretationCoded: coded("interpretation.POS"),
  };
  return { isPart: false, ...ids, name: subject, code, disease, test, specimen, ...found, ...place };
}

function sourceOf(of: RowView): string {
  const entry = (resource: object) => ({ fullUrl: `urn:uuid:${of.id}`, resource });
  const text = JSON.stringify(
    {
      resourceType: "Bundle",
      identifier: { system: "urn:ietf:rfc:3986", value: of.documentIdentifier },
      type: "document",
      timestamp: "2026-11-20T08:14:00+01:00",
      entry: [
        entry({ resourceType: "Composition", title: "Laboratory report", status: "final" }),
        entry({
          resourceType: "Patient",
          name: [{ text: of.patient }],
          birthDate: of.state === "held" ? "31.02.1984" : "1984-02-11",
          address: [
            { line: ["Rebgasse 14"], city: "Basel", state: "Basel-Stadt", postalCode: "4057", country: "Schweiz" },
          ],
        }),
        entry({
          resourceType: "Observation",
          status: "final",
          code: { coding: [{ system: "http://loinc.org", code: of.code }] },
        }),
        entry({ resourceType: "Specimen", type: { text: "Swab" } }),
        entry({ resourceType: "Organization", name: of.laboratory }),
      ],
    },
    null,
    2,
  );
  return text;
}

const ANSWER = `{"resourceType":"DocumentReference","id":"f1c0a6e2","status":"current","extension":[{"url":"http://fhir.ch/ig/ch-elm/StructureDefinition/ch-ext-elm-status","extension":[{"url":"status","valueCode":"failed"}]}]}`;

function timelineOf(of: RowView): TimelineView[] {
  const start = Date.parse(of.created);
  const step = (
    event: EventCode,
    seconds: number,
    params: Record<string, string> = {},
    evidence = false,
  ): TimelineView => ({
    event,
    params,
    person: event === "queued" || event === "held" ? "anna@lab-pc-7" : "lab-courier",
    at: new Date(start + seconds * 1000).toISOString(),
    evidence: evidence
      ? { httpStatus: 200, contentType: "application/fhir+json", body: ANSWER, truncated: false }
      : null,
  });
  if (of.state === "held") return [step("held", 0)];
  const steps = [step("queued", 0, { due: of.created })];
  if (of.state === "queued") return steps;
  steps.push(step("sending-started", 11));
  if (of.state === "sending") return steps;
  if (of.state === "rejected") return [...steps, step("rejected", 13, {}, true)];
  steps.push(step("doubted", 41, { why: "cut", due: new Date(start + 60_000).toISOString() }));
  if (of.state === "unknown") {
    for (const seconds of [62, 92, 152, 272, 572]) {
      const due = new Date(start + (seconds + 120) * 1000).toISOString();
      steps.push(step("asked-in-vain", seconds, { due, answered: due }, true));
    }
    return steps;
  }
  steps.push(step("accepted", 62, { receipt: "f1c0a6e2" }, true));
  if (of.state === "completed" || of.state === "failed") steps.push(step(of.state, 93, { receipt: "f1c0a6e2" }, true));
  return steps;
}

export function detail(of: RowView, unmasked: string | null): DetailView {
  const plain = { ...of, patient: unmasked };
  const messages = [of.message, of.state === "failed" || of.warnings > 0 ? PLACE : null];
  return {
    row: plain,
    birthDate: "1984-02-11",
    documentDate: "2026-11-20T07:14:00Z",
    digest: "9f2c61d07ab4e3580c6e1f4d2b7a90c35e8d41f6a7b3c2d19e0f5a6b7c8d9e0f",
    identifier: `urn:uuid:0b9d4c7e-51aa-4e0b-8a3f-${String(of.id).padStart(12, "0")}`,
    receipt: ["completed", "failed", "in-progress"].includes(of.state) ? "f1c0a6e2-77d4-4c0e-9f3a-5b2d1e8c6a90" : null,
    goesByItself: false,
    waitingVersions: [],
    attempts: of.state === "held" || of.state === "queued" ? 0 : 1,
    format: of.file.endsWith(".xml") ? "xml" : "json",
    size: 10_480,
    messages: messages.filter((message) => message !== null),
    timeline: timelineOf(of),
    results: [resultOf(plain)],
    sections: sectionsOf(plain),
    source: sourceOf(plain),
    privacy: null,
  };
}
