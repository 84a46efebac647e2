// Settings of the made-up core that have no other place: preferences, the watched folder, deadlines, and who has
// changed what.

import type { AuditEntry } from "../generated/AuditEntry";
import type { DeadlineView } from "../generated/DeadlineView";
import type { PreferencesView } from "../generated/PreferencesView";
import type { StatusView } from "../generated/StatusView";
import type { Answers } from "./answers";

/** What is chosen from the beginning. */
type Chosen = Pick<PreferencesView, "language" | "theme" | "firstRunDone">;

const OTHERS: Omit<PreferencesView, keyof Chosen> = {
  lockAfterMinutes: 10,
  undoSeconds: 10,
  textPercent: 100,
  density: "comfortable",
  singleKeys: true,
  onClose: "ask",
  checklistHidden: false,
  notifications: true,
  startAtLogin: false,
};

const DEADLINES: DeadlineView[] = [
  { disease: "covid-19", hours: 24 },
  { disease: "legionellosis", hours: 168 },
  { disease: "measles", hours: 24 },
];

/** Changes of the settings, the newest first. */
const AUDITED: AuditEntry[] = [
  { at: "2026-11-20T14:02:11Z", by: "rossi@labor-03", change: "deadlines-set", params: { count: "3" } },
  {
    at: "2026-11-12T07:41:55Z",
    by: "rossi@labor-03",
    change: "watched-folder-set",
    params: { folder: "/srv/lis/export" },
  },
  { at: "2026-11-11T16:20:30Z", by: "keller@labor-03", change: "endpoint-used", params: { endpoint: "FOPH" } },
  {
    at: "2026-11-11T16:12:04Z",
    by: "keller@labor-03",
    change: "certificate-imported-named",
    params: { subject: "CN=Labor Aaretal AG", date: "2027-04-13" },
  },
  {
    at: "2026-11-11T16:05:47Z",
    by: "keller@labor-03",
    change: "endpoint-added",
    params: { endpoint: "FOPH", address: "https://reports.example.org/v1/fhir" },
  },
];

export function createSettings(chosen: Chosen, watched: string | null) {
  let preferences: PreferencesView = { ...OTHERS, ...chosen };
  let deadlines = DEADLINES;
  let attentionDays = 3;
  let watchedFolder = watched;
  const answers = {
    preferences: () => preferences,
    set_preferences(takes) {
      ({ preferences } = takes);
      return null;
    },
    deadlines: () => ({
      deadlines,
      diseases: ["covid-19", "gonorrhoea", "legionellosis", "malaria", "measles", "meningococcal"],
      isExample: false,
    }),
    set_deadlines(takes) {
      ({ deadlines } = takes);
      return null;
    },
    set_attention_days({ days }) {
      attentionDays = days;
      return null;
    },
    look_at_folder: () => ({ count: 17, newest: "2026-11-20T07:12:00Z" }),
    set_watched_folder({ path }) {
      watchedFolder = path;
      return null;
    },
    watch_what_comes({ path }) {
      watchedFolder = path;
      return null;
    },
    left_lying: () => ({ count: 0, newest: null, paths: [] }),
    audit_log: () => AUDITED,
  } satisfies Partial<Answers>;
  const status = () => ({ attentionDays, watchedFolder }) satisfies Partial<StatusView>;
  return { answers, status };
}
