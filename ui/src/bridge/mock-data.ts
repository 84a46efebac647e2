// Made-up reports for the made-up door. No person, laboratory or number here is real.

import type { AuditEntry } from "./generated/AuditEntry";
import type { Action } from "./generated/Action";
import type { CandidateView } from "./generated/CandidateView";
import type { DetailView } from "./generated/DetailView";
import type { EventCode } from "./generated/EventCode";
import type { FieldKey } from "./generated/FieldKey";
import type { Group } from "./generated/Group";
import type { MessageView } from "./generated/MessageView";
import type { ResultView } from "./generated/ResultView";
import type { RowView } from "./generated/RowView";
import type { SectionView } from "./generated/SectionView";
import type { State } from "./generated/State";
import type { TimelineView } from "./generated/TimelineView";

const PATIENTS = [
  "Brunner, Lea",
  "Meier, Tobias",
  "Favre, Amélie",
  "Rossi, Luca",
  "Keller, Hans-Peter",
  "M. K.",
  "Zgraggen, Ursula",
  "Nguyen, Minh",
];
/** What a report is about, as the core tells it of these codes; it does not know the last one. */
type About = Pick<RowView, "subject" | "code" | "disease" | "test" | "specimen">;
const SUBJECTS: About[] = [
  about("697-3", "Neisseria gonorrhoeae", "gonorrhoea", "culture", "urethra"),
  about("76078-5", "Influenza A virus", "influenza", "pcr", "nose"),
  about("42255-9", "Salmonella enterica", "salmonellosis", "culture"),
  about("26006-7", "Borrelia / tick-borne encephalitis virus IgM", "tbe", "igm"),
  about("21613-5", "Chlamydia trachomatis", "chlamydia", "pcr"),
  about("32781-7", "Legionella pneumophila antigen in urine", "legionellosis", "antigen", "urine"),
  about("51798-7", "Hepatitis E virus RNA", "hepatitis-e", "pcr"),
  about("48175-3", "Mycobacterium tuberculosis complex, rifampicin susceptibility"),
];
const NOTHING = { subject: null, disease: null, test: null, specimen: null };
const LABORATORIES = ["Labor Aaretal AG", "Zentrallabor Seestadt", "Laboratoire du Jura"];

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

const WRONG_DATE: MessageView = {
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

const PLACE: MessageView = {
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

const GROUPS: Record<State, Group> = {
  held: "needs-attention",
  rejected: "needs-attention",
  failed: "needs-attention",
  queued: "in-progress",
  sending: "in-progress",
  unknown: "in-progress",
  "in-progress": "in-progress",
  completed: "completed",
  withdrawn: "closed",
  "said-received": "closed",
  superseded: "closed",
};

export const groupOf = (state: State): Group => GROUPS[state];

const ACTIONS: Partial<Record<State, Action[]>> = {
  held: ["correct", "release", "withdraw"],
  queued: ["hold-back", "withdraw"],
  rejected: ["correct", "resubmit", "withdraw"],
  failed: ["correct", "resubmit", "withdraw"],
};

export const actionsOf = (state: State): Action[] => ACTIONS[state] ?? [];

/** States as they lie in a usual week; the newest first. */
const STATES: State[] = [
  "in-progress",
  "failed",
  "completed",
  "completed",
  "unknown",
  "completed",
  "rejected",
  "completed",
  "queued",
  "completed",
  "completed",
  "held",
  "completed",
  "failed",
  "completed",
  "superseded",
  "completed",
  "completed",
  "withdrawn",
  "sending",
];

function pick<T>(list: readonly T[], at: number): T {
  return list[at % list.length] as T;
}

export function messageFor(state: State, at: number): MessageView | null {
  if (state === "held") return WRONG_DATE;
  if (state === "rejected") return MATERIAL;
  if (state === "failed") return at % 3 === 1 ? UNKNOWN_CODE : MATERIAL;
  return null;
}

export function masked(name: string): string {
  return name.replace(/(\p{L})\p{L}+/gu, "$1…");
}

/** Whether the authority has not taken it yet. */
const isRunning = (state: string) => ["held", "queued", "sending", "unknown", "rejected", "failed"].includes(state);

/** What a report is about, alone. */
export const named = ({ subject, disease, test, specimen }: Omit<About, "code">) => ({
  subject,
  disease,
  test,
  specimen,
});

export function row(id: number, at: number, now: number): RowView {
  const state = pick(STATES, at);
  const of = pick(SUBJECTS, at * 3 + 1);
  const minutes = at < 20 ? at * 17 : at * 41;
  const moment = new Date(now - minutes * 60_000).toISOString();
  const message = messageFor(state, at);
  return {
    id,
    file: `${new Date(now - minutes * 60_000).toISOString().slice(0, 10)}_${4100 + at}.${at % 3 ? "json" : "xml"}`,
    state,
    // In doubt for long, a report needs a person.
    group: state === "unknown" && minutes > 60 ? "needs-attention" : groupOf(state),
    actions: actionsOf(state),
    patient: pick(PATIENTS, at * 5 + 2),
    ...of,
    laboratory: pick(LABORATORIES, at),
    documentIdentifier: `urn:uuid:6d1f${(4096 + id).toString(16)}-2c4b-4f6e-9a51-7be03c1d${(4096 + id).toString(16)}`,
    errors: message ? 1 : 0,
    warnings: at % 7 === 0 ? 1 : 0,
    message,
    environment: "practice",
    endpoint: "practice",
    corrects: null,
    correctedBy: state === "superseded" ? id + 2 : null,
    created: moment,
    updated: moment,
    // From two days late to a day and a half before the end.
    due:
      isRunning(state) && at % 3 > 0
        ? new Date(now + ((at % 8) - 4) * 12 * 3_600_000 + 40 * 60_000).toISOString()
        : null,
  };
}

export function sectionsOf(of: RowView): SectionView[] {
  const field = (key: FieldKey, value: string, line: number, code: string | null = null) => ({
    key,
    label: null,
    technical: key.endsWith(".identifier"),
    value,
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
        field("observation.value", "Positive", 28, "10828004"),
        field("observation.interpretation", "Positive", 29, "POS"),
        field("observation.effective", "2026-11-19T16:40:00+01:00", 30),
      ],
    },
    {
      resource: "Specimen",
      expression: "Bundle.entry[4].resource",
      fields: [
        field("specimen.type", "Swab", 38, "257261003"),
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
  return { isPart: false, name: subject, code, disease, test, specimen, ...found, ...place };
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

/** What a file by that name is taken for. */
export function candidate(path: string, at: number): CandidateView {
  const file = path.split(/[/\\]/).at(-1) ?? path;
  const base = {
    file,
    kind: "fhir-document" as const,
    digest: `${at}`,
    patient: masked(pick(PATIENTS, at)),
    ...named(pick(SUBJECTS, at)),
    known: null,
    knownState: null,
    knownUpdated: null,
    corrects: null,
  };
  if (/\.pdf$/i.test(file)) {
    const message = { ...BLANK, code: "not-a-report", params: { kind: "pdf", "resource-type": "" } };
    return { ...base, kind: "pdf", verdict: "refused", ...NOTHING, patient: null, messages: [message] };
  }
  if (/known/.test(file)) return { ...base, verdict: "known", known: 58, messages: [] };
  if (/error|birth/.test(file)) return { ...base, verdict: "errors", messages: [{ ...WRONG_DATE, line: 17 }] };
  if (/warn|uuid/.test(file)) return { ...base, verdict: "warnings", messages: [MALFORMED] };
  return { ...base, verdict: "ready", messages: [] };
}

function about(
  code: string,
  subject: string,
  disease: About["disease"] = null,
  test: About["test"] = null,
  specimen: About["specimen"] = null,
): About {
  return { subject, code, disease, test, specimen };
}

/** Changes of the settings, the newest first. */
export const AUDITED: AuditEntry[] = [
  { at: "2026-11-20T14:02:11Z", by: "rossi@labor-03", change: "deadlines-set", params: { count: "3" } },
  {
    at: "2026-11-12T07:41:55Z",
    by: "rossi@labor-03",
    change: "watched-folder-set",
    params: { folder: "/srv/lis/export" },
  },
  { at: "2026-11-11T16:20:30Z", by: "keller@labor-03", change: "endpoint-used", params: { endpoint: "FOPH" } },
  { at: "2026-11-11T16:12:04Z", by: "keller@labor-03", change: "certificate-imported", params: {} },
  {
    at: "2026-11-11T16:05:47Z",
    by: "keller@labor-03",
    change: "endpoint-added",
    params: { endpoint: "FOPH", address: "https://reports.example.org/v1/fhir" },
  },
];
