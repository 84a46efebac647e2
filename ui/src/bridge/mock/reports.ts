// Made-up reports. No person, laboratory or number here is real.

import type { Action } from "../generated/Action";
import type { CandidateView } from "../generated/CandidateView";
import type { Group } from "../generated/Group";
import type { RowView } from "../generated/RowView";
import type { State } from "../generated/State";
import type { TakenBack } from "../generated/TakenBack";
import { BLANK, MALFORMED, UNKNOWN_CODE, WRONG_DATE, messageFor } from "./messages";

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

/** Of those on hold, what was taken back before it left. */
const TAKEN_BACK: Record<number, TakenBack> = { 31: "correction", 51: "repetition" };

function pick<T>(list: readonly T[], at: number): T {
  return list[at % list.length] as T;
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
  const takenBack = TAKEN_BACK[at % 60] ?? null;
  const message = takenBack === null ? messageFor(state, at) : takenBack === "repetition" ? UNKNOWN_CODE : null;
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
    draft: actionsOf(state).includes("correct") && at % 15 === 6,
    takenBack,
  };
}

/** What a file by that name is taken for. */
export function candidate(path: string, at: number): CandidateView {
  const file = path.split(/[/\\]/).at(-1) ?? path;
  const base = {
    file,
    kind: "fhir-document" as const,
    digest: `${at}`,
    content: `${at}`,
    documentIdentifier: `urn:uuid:${at}`,
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
