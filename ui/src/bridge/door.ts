// The one door between window and core: commands by name, and three events. `tauri.ts` is the real one,
// `mock.ts` a made-up one for looking at screens and for tests.

import type { AskQuery } from "./generated/AskQuery";
import type { AskedView } from "./generated/AskedView";
import type { BatchView } from "./generated/BatchView";
import type { CaView } from "./generated/CaView";
import type { CandidateView } from "./generated/CandidateView";
import type { CertificateView } from "./generated/CertificateView";
import type { ChosenView } from "./generated/ChosenView";
import type { CauseFieldView } from "./generated/CauseFieldView";
import type { DeadlineView } from "./generated/DeadlineView";
import type { DeadlinesView } from "./generated/DeadlinesView";
import type { DecidedView } from "./generated/DecidedView";
import type { DetailView } from "./generated/DetailView";
import type { DraftView } from "./generated/DraftView";
import type { EndpointInput } from "./generated/EndpointInput";
import type { EndpointView } from "./generated/EndpointView";
import type { FixView } from "./generated/FixView";
import type { HandedItem } from "./generated/HandedItem";
import type { HandedView } from "./generated/HandedView";
import type { IntakeView } from "./generated/IntakeView";
import type { LeftView } from "./generated/LeftView";
import type { LostView } from "./generated/LostView";
import type { ListCountsView } from "./generated/ListCountsView";
import type { ListQuery } from "./generated/ListQuery";
import type { LyingView } from "./generated/LyingView";
import type { MoveView } from "./generated/MoveView";
import type { NamedCorrection } from "./generated/NamedCorrection";
import type { PageView } from "./generated/PageView";
import type { PreferencesView } from "./generated/PreferencesView";
import type { ProbeView } from "./generated/ProbeView";
import type { Problem } from "./generated/Problem";
import type { RemovedView } from "./generated/RemovedView";
import type { RulesEntry } from "./generated/RulesEntry";
import type { RulesPlanView } from "./generated/RulesPlanView";
import type { SafekeepingView } from "./generated/SafekeepingView";
import type { SavedView } from "./generated/SavedView";
import type { StatementView } from "./generated/StatementView";
import type { StatisticsView } from "./generated/StatisticsView";
import type { StatusView } from "./generated/StatusView";
import type { StoredCertificateView } from "./generated/StoredCertificateView";
import type { SuggestedView } from "./generated/SuggestedView";
import type { SupportFile } from "./generated/SupportFile";

/** One change for many reports: at this element, this value becomes that. */
export interface Fix {
  path: string;
  find: string;
  replace: string;
}

/** What a person sends, in one call. */
export interface HandedList {
  /** In the order in which they were chosen. */
  items: HandedItem[];
  /** Digests of what was shown as known and is to go once more. */
  again: string[];
  /** What was shown as the correction of a report. */
  corrections: NamedCorrection[];
  /** Digests of all that was shown: what lies there besides is given back. */
  shown: string[] | null;
  separate: boolean;
  /** Id of the endpoint that is shown: nothing goes to another one. */
  endpoint: string;
}

/** What is decided for many reports at once. */
export type Decision = "resubmit" | "release" | "hold-back" | "withdraw";

/** Each command: what it takes and what it gives. Every one rejects with a `Problem`. */
export interface Commands {
  status: { takes: void; gives: StatusView };
  list: { takes: { query: ListQuery; reveal: boolean }; gives: PageView };
  list_counts: { takes: { query: ListQuery }; gives: ListCountsView };
  matching: { takes: { query: ListQuery }; gives: number[] };
  chosen: { takes: { ids: number[] }; gives: ChosenView };
  decide: { takes: { ids: number[]; decision: Decision; reason: string }; gives: DecidedView };
  save_table: { takes: { text: string }; gives: boolean };
  saved_views: { takes: void; gives: SavedView[] };
  keep_view: { takes: { view: SavedView }; gives: null };
  forget_view: { takes: { name: string }; gives: null };
  deadlines: { takes: void; gives: DeadlinesView };
  set_deadlines: { takes: { deadlines: DeadlineView[] }; gives: null };
  detail: { takes: { id: number }; gives: DetailView };
  batch: { takes: { ids: number[] }; gives: BatchView };
  inspect_files: { takes: { paths: string[] }; gives: CandidateView[] };
  inspect_text: { takes: { text: string; name: string }; gives: CandidateView[] };
  hand_over: { takes: HandedList; gives: HandedView };
  hold_back: { takes: { ids: number[] }; gives: number };
  release: { takes: { id: number; reason: string }; gives: boolean };
  withdraw: { takes: { id: number; reason: string }; gives: null };
  say_received: { takes: { id: number; reason: string }; gives: null };
  say_not_received: { takes: { id: number; reason: string }; gives: null };
  resubmit: { takes: { id: number }; gives: number };
  correct_with_file: { takes: { id: number; path: string; shown: string[] }; gives: IntakeView };
  correct_with_text: { takes: { id: number; text: string }; gives: IntakeView };
  look_at_draft: { takes: { id: number; text: string }; gives: DraftView };
  edit_draft: { takes: { text: string; expression: string; value: string }; gives: string };
  remove_value: { takes: { text: string; expression: string }; gives: RemovedView };
  apply_suggestions: { takes: { text: string; only: string | null }; gives: SuggestedView };
  keep_draft: { takes: { id: number; text: string }; gives: null };
  draft: { takes: { id: number }; gives: string | null };
  cause_fields: { takes: { ids: number[] }; gives: CauseFieldView[] };
  fix_preview: { takes: Fix & { ids: number[] }; gives: FixView };
  fix: { takes: Fix & { id: number }; gives: IntakeView };
  choose_files: { takes: { purpose: "reports" | "certificate" | "ca" | "rules" }; gives: string[] };
  choose_folder: { takes: void; gives: string | null };
  practice_samples: { takes: void; gives: string[] };
  certificate_inspect: { takes: { paths: string[]; password: string }; gives: CertificateView };
  certificate_import: { takes: { paths: string[]; password: string; endpoint: string | null }; gives: CertificateView };
  read_ca: { takes: { path: string }; gives: CaView };
  protect_with_passphrase: { takes: { passphrase: string }; gives: null };
  open_vault: { takes: { passphrase: string }; gives: null };
  certificates: { takes: void; gives: StoredCertificateView[] };
  use_certificate: { takes: { fingerprint: string; endpoint: string }; gives: null };
  remove_certificate: { takes: { fingerprint: string; although_needed: boolean }; gives: null };
  rotate_journal_key: { takes: void; gives: null };
  endpoints: { takes: void; gives: EndpointView[] };
  add_endpoint: { takes: { input: EndpointInput }; gives: null };
  plan_endpoint: { takes: { name: string }; gives: MoveView };
  set_endpoint_address: { takes: { name: string; base_url: string; same_authority: boolean }; gives: null };
  rename_endpoint: { takes: { name: string; new_name: string }; gives: null };
  remove_endpoint: { takes: { name: string }; gives: null };
  use_endpoint: { takes: { name: string }; gives: null };
  test_endpoint: { takes: { name: string }; gives: ProbeView[] };
  set_paused: { takes: { paused: boolean }; gives: null };
  rules: { takes: void; gives: RulesEntry[] };
  import_rules: { takes: { path: string }; gives: RulesEntry };
  plan_rules: { takes: { package: string }; gives: RulesPlanView };
  use_rules: { takes: { package: string }; gives: RulesEntry };
  remove_rules: { takes: { package: string }; gives: null };
  safekeeping: { takes: void; gives: SafekeepingView | null };
  set_backup_place: { takes: { path: string | null }; gives: number };
  remove_set_aside: { takes: { name: string }; gives: null };
  set_attention_days: { takes: { days: number }; gives: null };
  look_at_folder: { takes: { path: string }; gives: LyingView };
  set_watched_folder: { takes: { path: string | null }; gives: null };
  watch_what_comes: { takes: { path: string }; gives: null };
  left_lying: { takes: void; gives: LeftView };
  lost_reports: { takes: void; gives: LostView[] };
  preferences: { takes: void; gives: PreferencesView };
  set_preferences: { takes: { preferences: PreferencesView }; gives: null };
  statistics: { takes: { days: number }; gives: StatisticsView };
  statement: { takes: { date: string }; gives: StatementView };
  ask_authority: { takes: { query: AskQuery; reveal: boolean }; gives: AskedView };
  ask_further: { takes: { number: number }; gives: AskedView };
  acknowledge_notice: { takes: { code: string; at: string }; gives: null };
  lock: { takes: void; gives: null };
  unlock: { takes: { passphrase: string }; gives: null };
  set_unlock_passphrase: { takes: { current: string; passphrase: string }; gives: null };
  support_preview: { takes: void; gives: SupportFile[] };
  save_support: { takes: void; gives: boolean };
}

/** Name of a command. */
export type Command = keyof Commands;

/** What the core reports without being asked. */
export interface CoreEvents {
  /** The journal moved. */
  changed: { revision: number };
  /** Files hover over the window, or no longer. */
  drag: { phase: "enter" | "leave" };
  /** Files were dropped on the window. */
  dropped: { paths: string[]; /** So many files that none of them was taken. */ refused?: number };
}

/** Handlers, one for each event. */
export type CoreHandlers = { [E in keyof CoreEvents]: (event: CoreEvents[E]) => void };

/** The door. */
export interface Caller {
  call<C extends Command>(
    command: C,
    ...takes: Commands[C]["takes"] extends void ? [] : [Commands[C]["takes"]]
  ): Promise<Commands[C]["gives"]>;
}

export interface Door extends Caller {
  /** For several calls that belong together: all ask in the room that is in use now, or are refused. */
  here(): Caller;
  /** Starts listening; the answer ends it. */
  listen(handlers: CoreHandlers): () => void;
}

/** What was thrown, as a problem: the core's own, or a fault of the window itself. */
export function problemOf(thrown: unknown): Problem {
  if (typeof thrown === "object" && thrown !== null && "code" in thrown && "blame" in thrown) {
    return thrown as Problem;
  }
  return {
    code: "window-fault",
    params: { text: thrown instanceof Error ? thrown.message : String(thrown) },
    blame: "us",
    remedy: "call-it",
    trace: "",
  };
}
