// A made-up core in memory: used by `vite --mode mock` and the tests, never part of the product.

import type { AboutView } from "./generated/AboutView";
import type { BatchView } from "./generated/BatchView";
import type { CandidateView } from "./generated/CandidateView";
import type { CertificateView } from "./generated/CertificateView";
import type { DeadlineView } from "./generated/DeadlineView";
import type { DecidedView } from "./generated/DecidedView";
import type { ElsewhereView } from "./generated/ElsewhereView";
import type { EndpointView } from "./generated/EndpointView";
import type { Environment } from "./generated/Environment";
import type { Group } from "./generated/Group";
import type { IntakeView } from "./generated/IntakeView";
import type { ListCountsView } from "./generated/ListCountsView";
import type { Layer } from "./generated/Layer";
import type { ListQuery } from "./generated/ListQuery";
import type { PreferencesView } from "./generated/PreferencesView";
import type { Theme } from "./generated/Theme";
import type { Problem } from "./generated/Problem";
import type { ProblemCode } from "./generated/ProblemCode";
import type { Processing } from "./generated/Processing";
import type { Remedy } from "./generated/Remedy";
import type { RowView } from "./generated/RowView";
import type { RulesEntry } from "./generated/RulesEntry";
import type { SafekeepingView } from "./generated/SafekeepingView";
import type { SavedView } from "./generated/SavedView";
import type { State } from "./generated/State";
import type { StatusView } from "./generated/StatusView";
import type { Timeliness } from "./generated/Timeliness";
import type { UpdatesView } from "./generated/UpdatesView";
import type { Command, Commands, CoreHandlers, Door } from "./door";
import { spoiled } from "./mock-hostile";
import { fieldsOf, foundIn, privacyOf } from "./mock-draft";
import { packaged, planned } from "./mock-rules";
import {
  AUDITED,
  UNKNOWN_CODE,
  actionsOf,
  candidate,
  detail,
  groupOf,
  masked,
  messageFor,
  named,
  row,
} from "./mock-data";

/** What a locked window may ask, as the core has it. */
const ALWAYS = new Set<Command>(["status", "preferences", "lock", "unlock"]);

type Handlers = { [C in Command]: (takes: Commands[C]["takes"]) => Commands[C]["gives"] };

const CERTIFICATE: CertificateView = {
  subject: "CN=Labor Aaretal AG, O=Labor Aaretal AG, C=CH",
  issuer: "CN=Practice CA of Lab Courier",
  serial: "5A:0F:3C:91:7B:22:E4:08",
  notBefore: "2026-04-13T08:00:00Z",
  notAfter: "2027-04-13T08:00:00Z",
  daysLeft: 143,
  daysAhead: 0,
  fingerprint: "3B:9A:51:7C:E0:44:1D:92:6F:AB:08:C3:5E:71:D9:20:4C:88:FA:13:67:B5:2E:90:DC:3A:F1:05:79:E6:8B:42",
  keyType: "EC P-256",
  purposes: ["clientAuth"],
  clientAuth: true,
  storedIn: "practice",
};

function problem(
  code: ProblemCode,
  params: Record<string, string>,
  remedy: Remedy,
  blame: Problem["blame"] = "you",
): Problem {
  return { code, params, blame, remedy, trace: "mock" };
}

const RECOVERED = problem(
  "journal-from-backup",
  {
    aside: "/home/lab/.local/share/labcourier/laboratory/journal.db.set-aside-1795000000000000",
    doubted: "3",
    last: "2026-11-20T17:03:11Z",
    lost: "1",
    salvaged: "4",
    submissions: "812",
  },
  "look-at-list",
  "us",
);

const REFUSED = problem(
  "watched-files-refused",
  { count: "2", file: "Befund 4711.pdf", folder: "/home/lab/out", kind: "pdf", reason: "not-a-report" },
  "mend-file",
);

const AWAY = problem("watched-folder-away", { folder: "/mnt/lab/out", reason: "folder-missing" }, "reconnect-folder");

const NOBODY_ASKED: UpdatesView = {
  state: "nobody",
  reason: null,
  version: null,
  asked: null,
  address: null,
  file: "/etc/lab-courier/updates.json",
};

export interface MockOptions {
  rows?: number;
  environment?: Environment;
  firstRunDone?: boolean;
  language?: string | null;
  theme?: Theme;
  /** What unlocks the window; with one it starts locked. */
  passphrase?: string;
  /** Whether only administrators may change settings. */
  closed?: boolean;
  /** Whether the keys wait for their passphrase. */
  sealed?: boolean;
  /** Whether this computer has a keychain. */
  keychain?: boolean;
  /** The newer version that is ready. */
  update?: string | null;
  /** Open reports of an endpoint that is not in use. */
  elsewhere?: ElsewhereView[];
  /** What happened to the journal and nobody has read yet. */
  notices?: Problem[];
  /** Milliseconds between the steps of a submission; the undo time is apart from it. */
  step?: number;
}

/** A core of its own. */
export function createMock(options: MockOptions = {}): Door {
  const now = Date.now();
  const names = new Map<number, string | null>();
  const rows: RowView[] = [];
  let next = 1;
  const count = options.rows ?? 64;
  for (let at = count - 1; at >= 0; at -= 1) add(row(next, at, now));
  let revision = 1;
  let paused = false;
  let passphrase = options.passphrase ?? "";
  let locked = passphrase !== "";
  let notices = (options.notices ?? []).map((notice) => ({ problem: notice, at: new Date(now).toISOString() }));
  const elsewhere = options.elsewhere ?? [];
  let attentionDays = 3;
  let watchedFolder: string | null = null;
  let room = 0;
  let certificate: CertificateView | null = CERTIFICATE;
  let preferences: PreferencesView = {
    language: options.language ?? null,
    theme: options.theme ?? "system",
    firstRunDone: options.firstRunDone ?? true,
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
  const endpoints: EndpointView[] = [
    endpoint("practice", "https://127.0.0.1:40123/v1/fhir", options.environment ?? "practice", true),
    endpoint("Authority, integration", "https://elm-abn.example.org/v1/fhir", "integration", false),
    endpoint("Authority", "https://elm.example.org/v1/fhir", "production", false),
  ];
  let views: SavedView[] = [
    {
      name: "Failed this week",
      group: null,
      states: ["failed"],
      search: "",
      period: "week",
      laboratory: null,
      about: null,
      timeliness: null,
      sort: "disease",
      ascending: true,
    },
  ];
  let deadlines: DeadlineView[] = [
    { disease: "covid-19", hours: 24 },
    { disease: "legionellosis", hours: 168 },
    { disease: "measles", hours: 24 },
  ];
  let rules: RulesEntry[] = [
    packaged("ch.fhir.ig.ch-elm", "1.14.0", now, true),
    {
      ...packaged("ch.fhir.ig.ch-elm", "1.15.0", now, false),
      missing: [{ name: "ch.fhir.ig.ch-term", wanted: "3.4.x", instead: "3.3.0" }],
    },
    packaged("hl7.fhir.r4.core", "4.0.1", now, false),
  ];
  let safekeeping: SafekeepingView = {
    backups: 9,
    lastBackup: new Date(now - 5_400_000).toISOString(),
    backupPlace: null,
    retentionDays: null,
    restorable: [
      { name: "journal-20261126T081112Z-1204.db", elsewhere: false, at: new Date(now - 5_400_000).toISOString() },
      { name: "journal-20261125T080950Z-1180.db", elsewhere: false, at: new Date(now - 9e7).toISOString() },
      { name: "journal-20261125T080950Z-1180.db", elsewhere: true, at: new Date(now - 9e7).toISOString() },
    ],
    setAside: [
      { name: "journal.db.set-aside-1795000000000000", at: new Date(now - 9e8).toISOString(), bytes: 48_302_080 },
    ],
  };
  let handlers: CoreHandlers | undefined;

  function add(of: RowView): RowView {
    names.set(of.id, of.patient);
    rows.unshift(of);
    next = Math.max(next, of.id + 1);
    return of;
  }
  function move(id: number, state: State): void {
    const of = find(id);
    Object.assign(of, {
      state,
      group: groupOf(state),
      actions: actionsOf(state),
      updated: new Date().toISOString(),
      due: groupOf(state) === "completed" || state === "in-progress" ? null : of.due,
      message: state === "failed" ? UNKNOWN_CODE : messageFor(state, id),
    });
    revision += 1;
    handlers?.changed({ revision });
  }
  function find(id: number): RowView {
    const of = rows.find((one) => one.id === id);
    if (!of) throw problem("no-such-submission", { id: String(id) }, "look-again");
    return of;
  }
  /** Lets a queued submission run to its end. */
  function run(id: number, fails: boolean, wait: number): void {
    const step = options.step ?? 1500;
    const to = (state: State, after: number, from: State) =>
      setTimeout(() => find(id).state === from && move(id, state), after);
    to("sending", wait, "queued");
    to("in-progress", wait + step, "sending");
    to(fails ? "failed" : "completed", wait + 2 * step, "in-progress");
  }
  function submit(view: CandidateView, corrects: number | null, wait: number): number | null {
    if (view.verdict === "refused") return null;
    const id = next;
    const of = add({ ...row(id, id, Date.now()), file: view.file, ...named(view), corrects });
    of.created = new Date().toISOString();
    of.message = null;
    move(id, view.verdict === "errors" ? "held" : "queued");
    if (of.state === "queued") run(id, /fails/.test(view.file), wait);
    return id;
  }
  function intake(
    paths: string[],
    again: (digest: string) => boolean,
    corrects: number | null,
    wait: number,
  ): IntakeView {
    const files = paths.flatMap(look);
    const submissions = files.map((view) =>
      view.verdict === "known" && !again(view.digest) ? null : submit(view, corrects, wait),
    );
    return { files, submissions, failed: [], problem: null };
  }
  function look(path: string): CandidateView[] {
    if (/\.(zip|ndjson)$|folder$/.test(path)) return [1, 2, 3].map((at) => candidate(`${path}/report-${at}.json`, at));
    return [candidate(path, path.length)];
  }
  function replace(id: number, view: IntakeView): IntakeView {
    const by = view.submissions[0];
    if (by) {
      move(id, "superseded");
      find(id).correctedBy = by;
    }
    return view;
  }
  function matching(query: ListQuery): RowView[] {
    const text = query.search?.toLowerCase();
    const found = rows.filter(
      (one) =>
        (!query.ids || query.ids.includes(one.id)) &&
        (!query.group || one.group === query.group) &&
        (query.states.length === 0 || query.states.includes(one.state)) &&
        (!query.since || one.created >= query.since) &&
        (!query.until || one.created < query.until) &&
        (!query.laboratory || one.laboratory === query.laboratory) &&
        (!query.about || aboutOf(query.about) === aboutOf(one)) &&
        (!query.timeliness || timelinessOf(one) === query.timeliness) &&
        (!text || [one.file, one.subject, names.get(one.id), one.message?.text].join(" ").toLowerCase().includes(text)),
    );
    const { sort, ascending } = query;
    if (!sort) return found;
    const word = (one: RowView) =>
      (sort === "patient" ? names.get(one.id) : String(one[sort as keyof RowView] ?? "")) ?? "";
    return found.toSorted((a, b) => (ascending ? 1 : -1) * word(a).localeCompare(word(b)));
  }
  const aboutOf = ({ disease, subject }: AboutView) =>
    JSON.stringify(disease ? { disease, subject: null } : { disease, subject });
  const timelinessOf = ({ due }: RowView): Timeliness | null =>
    due ? (Date.parse(due) < Date.now() ? "overdue" : "running") : null;
  function listed(query: ListQuery, reveal: boolean) {
    const found = matching(query);
    const { before, limit } = query;
    const from = before === null ? found : found.slice(found.findIndex((one) => one.id === before) + 1);
    const page = from.slice(0, limit ?? 100);
    return {
      rows: page.map((one) => ({ ...one, patient: reveal || !one.patient ? one.patient : masked(one.patient) })),
      next: page.length < from.length ? (page.at(-1)?.id ?? null) : null,
      total: found.length,
    };
  }
  function tallied(of: string[]): Record<string, number> {
    const counts: Record<string, number> = {};
    for (const one of of) counts[one] = (counts[one] ?? 0) + 1;
    return counts;
  }
  function counted(query: ListQuery): ListCountsView {
    const open = { ...query, group: null, states: [] };
    const laboratories = matching({ ...query, laboratory: null }).flatMap((one) => one.laboratory ?? []);
    const diseases = tallied(matching({ ...query, about: null }).map(aboutOf));
    const timeliness = matching({ ...query, timeliness: null }).flatMap((one) => timelinessOf(one) ?? []);
    return {
      groups: tallied(matching(open).map((one) => one.group)),
      states: tallied(matching({ ...query, states: [] }).map((one) => one.state)),
      laboratories: Object.entries(tallied(laboratories)).map(([name, count]) => ({ name, count })),
      diseases: Object.entries(diseases).map(([about, count]) => ({ ...(JSON.parse(about) as AboutView), count })),
      timeliness: tallied(timeliness),
      atLeast: false,
      choicesCounted: null,
    };
  }
  /** What each state permits decides, as it does in the core. */
  function decided({ ids, decision, reason }: Commands["decide"]["takes"]): DecidedView {
    const view: DecidedView = { done: [], sent: [], refused: [] };
    for (const id of ids) {
      const { state } = find(id);
      if (!actionsOf(state).includes(decision)) {
        const known = view.refused.find((one) => one.problem.params.state === state);
        if (known) known.ids.push(id);
        else
          view.refused.push({
            problem: problem("action-not-possible", { action: decision, state }, "look-again"),
            ids: [id],
          });
        continue;
      }
      view.done.push(id);
      if (decision === "resubmit") view.sent.push(answer.resubmit({ id }));
      else if (decision === "hold-back") answer.hold_back({ ids: [id] });
      else answer[decision]({ id, reason });
      if (decision === "release") view.sent.push(id);
    }
    return view;
  }
  function batch(ids: number[]): BatchView {
    const of = ids.map(find);
    const byState: BatchView["byState"] = {};
    for (const one of of) byState[one.state] = (byState[one.state] ?? 0) + 1;
    const waiting = of.filter((one) => one.state === "queued");
    const until = Math.min(...waiting.map((one) => Date.parse(one.created) + 10_000));
    const count = (group: Group) => of.filter((one) => one.group === group).length;
    const attention = of.filter((one) => one.group === "needs-attention").map((one) => one.id);
    return {
      total: ids.length,
      byState,
      moving: count("in-progress"),
      completed: count("completed"),
      closed: count("closed"),
      causes: Math.min(1, attention.length),
      secondsLeft: null,
      undoUntil: waiting.length > 0 && until > Date.now() ? new Date(until).toISOString() : null,
      waiting: waiting.map((one) => one.id),
      attention,
    };
  }
  function status(): StatusView {
    const byState: BatchView["byState"] = {};
    for (const one of rows) byState[one.state] = (byState[one.state] ?? 0) + 1;
    const of = (group: Group) => rows.filter((one) => one.group === group).length;
    const inUse = endpoints.find((one) => one.inUse);
    return {
      environment: inUse?.environment ?? "practice",
      endpoint: inUse?.name ?? "",
      endpointId: inUse?.name ?? "",
      baseUrl: inUse?.baseUrl ?? "",
      release: "1.13.1",
      connection: "connected",
      problem: options.sealed ? problem("passphrase-needed", {}, "enter-password") : null,
      lastContact: new Date(now - 40_000).toISOString(),
      tested: null,
      certificate,
      waitingCertificate: null,
      counts: {
        needsAttention: of("needs-attention"),
        inProgress: of("in-progress"),
        completed: of("completed"),
        closed: of("closed"),
        byState,
      },
      revision,
      room,
      elsewhere,
      laboratory: null,
      workedElsewhere: false,
      paused,
      attentionDays,
      watchedFolder,
      locked,
      hasUnlockPassphrase: passphrase !== "",
      hasAdministrationPassphrase: options.closed ?? false,
      administrationClosed: options.closed ?? false,
      notices,
      version: "0.1.0",
    };
  }
  function opened(takes: { paths: string[]; password: string }): CertificateView {
    if (takes.password === "wrong") throw problem("certificate-wrong-password", {}, "enter-password");
    if (takes.paths.some((path) => /damaged/.test(path)))
      throw problem("certificate-damaged", { kind: "pkcs12" }, "choose-other-file");
    return { ...CERTIFICATE, issuer: "CN=Issuing CA of the Authority, C=CH", storedIn: "keychain" };
  }

  const answer: Handlers = {
    status,
    list: ({ query, reveal }) => listed(query, reveal),
    list_counts: ({ query }) => counted(query),
    matching: ({ query }) => matching(query).map((one) => one.id),
    chosen: ({ ids }) => ({ count: ids.length, actions: tallied(ids.flatMap((id) => actionsOf(find(id).state))) }),
    decide: decided,
    save_table: () => true,
    save_statement: () => true,
    saved_views: () => views,
    keep_view({ view }) {
      views = [...views.filter((one) => one.name !== view.name), view];
      return null;
    },
    forget_view({ name }) {
      views = views.filter((one) => one.name !== name);
      return null;
    },
    rules: () => rules,
    import_rules({ path }) {
      const entry = packaged(
        path
          .split("/")
          .at(-1)
          ?.replace(/-[\d.]+\.tgz$/, "") ?? "",
        "3.3.0",
        now,
        false,
      );
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
    updates: () => (options.update ? { ...NOBODY_ASKED, state: "ready", version: options.update } : NOBODY_ASKED),
    look_for_updates: () => NOBODY_ASKED,
    set_updates: () => null,
    install_update: () => false,
    safekeeping: () => safekeeping,
    back_up() {
      safekeeping = { ...safekeeping, backups: safekeeping.backups + 1, lastBackup: new Date().toISOString() };
      return null;
    },
    check_journal: () => 1_204,
    set_backup_place({ path }) {
      safekeeping = { ...safekeeping, backupPlace: path };
      return path === null ? 0 : safekeeping.backups;
    },
    plan_retention: ({ days }) => ({
      reports: days > 365 ? 0 : Math.round(73_000 / days),
      before: new Date(now - days * 864e5).toISOString(),
    }),
    set_retention({ days }) {
      safekeeping = { ...safekeeping, retentionDays: days };
      return days === null || days > 365 ? 0 : Math.round(73_000 / days);
    },
    plan_restore: ({ name, elsewhere }) => ({
      at: safekeeping.restorable.find((one) => one.name === name && one.elsewhere === elsewhere)?.at ?? "",
      reportsSince: 12,
      needsPassphrase: elsewhere,
    }),
    restore_backup: () => ({ reports: 311, doubted: 2, salvaged: 11, lost: 1, editedLost: 1, closed: null }),
    remove_set_aside({ name }) {
      safekeeping = { ...safekeeping, setAside: safekeeping.setAside.filter((one) => one.name !== name) };
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
    detail: ({ id }) => detail(find(id), names.get(id) ?? null),
    inspect_files: ({ paths }) => paths.flatMap(look),
    inspect_text: ({ name, text }) => (text.trim().startsWith("{") ? look(name) : look("scan.pdf")),
    hand_over: ({ items, again }) => ({
      items: items.map((item) =>
        intake(["path" in item ? item.path : item.name], (digest) => again.includes(digest), null, 10_000),
      ),
      gone: { files: [], submissions: [], failed: [], problem: null },
    }),
    batch: ({ ids }) => batch(ids),
    hold_back({ ids }) {
      for (const id of ids) move(id, "held");
      return ids.length;
    },
    release({ id }) {
      move(id, "queued");
      run(id, false, 1000);
      return false;
    },
    withdraw({ id }) {
      move(id, "withdrawn");
      return null;
    },
    say_received({ id }) {
      move(id, "withdrawn");
      return null;
    },
    say_not_received({ id }) {
      move(id, "queued");
      run(id, false, 1000);
      return null;
    },
    resubmit({ id }) {
      const of = find(id);
      if (!actionsOf(of.state).includes("resubmit")) {
        throw problem("action-not-possible", { action: "resubmit", state: of.state }, "look-again");
      }
      const view = { ...candidate(of.file, id), ...named(of), verdict: "ready" as const };
      return (
        replace(id, { files: [view], submissions: [submit(view, id, 500)], failed: [], problem: null })
          .submissions[0] ?? 0
      );
    },
    correct_with_file: ({ id, path }) =>
      replace(
        id,
        intake([path], () => true, id, 500),
      ),
    correct_with_text: ({ id }) =>
      replace(
        id,
        intake([find(id).file.replace("fails", "corrected")], () => true, id, 500),
      ),
    look_at_draft: ({ id, text }) => ({
      messages: foundIn(text),
      readable: true,
      fields: fieldsOf(text),
      privacy: privacyOf(text),
      reducible: privacyOf(text)?.tooMuch ?? false,
      changes: [
        { line: 1, removed: detail(find(id), null).source.split("\n")[0] ?? "", added: text.split("\n")[0] ?? "" },
      ],
      changed: 1,
      vanished: [],
    }),
    edit_draft: ({ text }) => text,
    remove_value: () => ({ text: null, refusal: "needed" }),
    apply_suggestions({ text, only }) {
      const put = foundIn(text)
        .flatMap(({ suggestion }) => suggestion ?? [])
        .filter((one) => only === null || one.expression === only);
      const changes = put.map(({ before, value, path }) => {
        const name = path.split(".").at(-1);
        return { line: 30, removed: `"${name}": "${before}"`, added: `"${name}": "${value}"` };
      });
      const after = put.reduce((draft, { before, value }) => draft.replace(`"${before}"`, `"${value}"`), text);
      return { text: after, count: put.length, changes, changed: changes.length };
    },
    keep_draft: () => null,
    draft: () => null,
    came_back: () => [],
    cause_fields: () => [{ path: "Patient.address.postalCode", values: [{ value: "1227", count: 3 }] }],
    fix_preview: ({ ids, find: old, replace: fresh }) => ({
      ready: ids,
      invalid: [],
      unchanged: [],
      example: [{ line: 171, removed: `"postalCode": "${old}"`, added: `"postalCode": "${fresh}"` }],
    }),
    fix: ({ id }) =>
      replace(
        id,
        intake([find(id).file.replace("fails", "corrected")], () => true, id, 500),
      ),
    choose_files: ({ purpose }) =>
      purpose === "reports"
        ? [
            "/data/2026-11-20_4711.json",
            "/data/2026-11-20_4712-warn-uuid.xml",
            "/data/2026-11-20_4713-birth-error.json",
            "/data/scan.pdf",
            "/data/2026-11-19_known.json",
          ]
        : purpose === "rules"
          ? ["/data/ch.fhir.ig.ch-term-3.3.0.tgz"]
          : ["/data/labor-aaretal.p12"],
    choose_folder: () => "/data/outbox-folder",
    practice_samples: () => [
      "/samples/sample-1-gonorrhoea.json",
      "/samples/sample-2-influenza.xml",
      "/samples/sample-3-fails-on-purpose.json",
    ],
    certificate_inspect: opened,
    certificate_try: () => [],
    certificate_import(takes) {
      if (options.keychain === false) throw problem("no-keychain", { cause: "none" }, "call-it");
      certificate = { ...opened(takes), storedIn: "keychain" };
      return certificate;
    },
    read_ca: () => ({
      pem: "-----BEGIN CERTIFICATE-----",
      subject: "CN=Root CA of the Authority",
      notAfter: new Date(now + 3e11).toISOString(),
      daysLeft: 3472,
      count: 1,
    }),
    protect_with_passphrase: () => null,
    open_vault: () => null,
    certificates: () =>
      certificate
        ? [
            {
              fingerprint: certificate.fingerprint,
              certificate,
              endpoints: endpoints.filter((one) => one.inUse).map((one) => one.name),
              formerly: [],
              open: 2,
            },
          ]
        : [],
    use_certificate: () => null,
    rotate_journal_key: () => null,
    remove_certificate() {
      certificate = null;
      return null;
    },
    endpoints: () => endpoints.map((one) => ({ ...one })),
    add_endpoint({ input }) {
      if (endpoints.some((one) => one.name === input.name))
        throw problem("endpoint-exists", { name: input.name }, "change-input");
      endpoints.push(endpoint(input.name, input.baseUrl, input.environment, false));
      return null;
    },
    plan_endpoint({ name }) {
      const now = endpoints.find((one) => one.inUse);
      const next = endpoints.find((one) => one.name === name);
      const toEnvironment = next?.environment ?? "production";
      return {
        from: now?.name ?? null,
        fromEnvironment: now?.environment ?? null,
        to: name,
        toEnvironment,
        leavesProduction:
          now?.environment === "production" && toEnvironment !== "production" && toEnvironment !== "practice",
        toProduction: toEnvironment === "production" && now !== undefined && now.environment !== "production",
        stay: [],
        watchedFolder: null,
        needs: null,
      };
    },
    set_endpoint_address({ name, base_url, same_authority }) {
      if (!same_authority) throw problem("endpoint-has-reports", { all: "3", name, open: "1" }, "look-again");
      for (const one of endpoints) if (one.name === name) one.baseUrl = base_url;
      return null;
    },
    set_endpoint_way({ name, ca_pem, proxy }) {
      const one = endpoints.find((known) => known.name === name);
      if (one && ca_pem !== null)
        Object.assign(one, { ownCa: ca_pem !== "", ca: ca_pem === "" ? null : "CN=Example CA" });
      if (one && proxy !== null) one.proxy = proxy === "" ? null : proxy;
      return null;
    },
    set_endpoint_terms({ name, release, language }) {
      for (const one of endpoints) if (one.name === name) Object.assign(one, { release, language });
      return null;
    },
    rename_endpoint({ name, new_name }) {
      if (endpoints.some((one) => one.name === new_name))
        throw problem("endpoint-exists", { name: new_name }, "change-input");
      for (const one of endpoints) if (one.name === name) one.name = new_name;
      return null;
    },
    remove_endpoint({ name }) {
      const at = endpoints.findIndex((one) => one.name === name);
      if (endpoints[at]?.inUse) throw problem("endpoint-in-use", { name }, "look-again");
      if (at >= 0) endpoints.splice(at, 1);
      return null;
    },
    use_endpoint({ name }) {
      const before = endpoints.find((one) => one.inUse)?.name;
      if ((before === "practice") !== (name === "practice")) room += 1;
      for (const one of endpoints) one.inUse = one.name === name;
      return null;
    },
    test_endpoint: ({ name }) => {
      const fails = name !== "practice";
      const layers: Layer[] = [
        "configuration",
        "name",
        "tcp",
        "tls",
        "server-certificate",
        "client-certificate",
        "capability",
      ];
      return layers.map((layer, at) => ({
        layer,
        outcome: !fails || at < 5 ? "passed" : at === 5 ? "failed" : "not-reached",
        problem:
          fails && at === 5 ? problem("tls-client-refused", { alert: "unknown_ca" }, "import-certificate") : null,
        detail: layer === "tls" ? "TLSv1.3" : layer === "capability" && !fails ? "1.13.1" : null,
      }));
    },
    set_paused(takes) {
      paused = takes.paused;
      return null;
    },
    set_attention_days({ days }) {
      attentionDays = days;
      return null;
    },
    set_watched_folder({ path }) {
      watchedFolder = path;
      return null;
    },
    look_at_folder: () => ({ count: 17, newest: "2026-11-20T07:12:00Z" }),
    watch_what_comes({ path }) {
      watchedFolder = path;
      return null;
    },
    left_lying: () => ({ count: 0, newest: null, paths: [] }),
    lost_reports: ({ reveal }) => {
      const newest = notices.some(({ problem: { params } }) => params.lost === "1")
        ? [{ file: reveal ? "befund-0812.json" : "b…-0….json", at: "2026-11-20T16:58:02Z", endpoint: "BAG" }]
        : [];
      return { total: newest.length, newest };
    },
    preferences: () => preferences,
    set_preferences(takes) {
      preferences = takes.preferences;
      return null;
    },
    opened() {
      return { paths: [], refused: 0, report: null };
    },
    acknowledge_notice({ code, at }) {
      notices = notices.filter((notice) => notice.problem.code !== code || notice.at !== at);
      return null;
    },
    lock() {
      locked = true;
      return null;
    },
    unlock(takes) {
      if (passphrase !== "" && takes.passphrase !== passphrase) throw problem("unlock-refused", {}, "enter-password");
      locked = false;
      return null;
    },
    set_unlock_passphrase(takes) {
      if (takes.current !== passphrase) throw problem("unlock-refused", {}, "enter-password");
      passphrase = takes.passphrase;
      return null;
    },
    open_administration: () => null,
    close_administration: () => null,
    set_administration_passphrase: () => null,
    audit_log: () => AUDITED,
    support_preview: () => [
      { name: "summary.txt", text: "Support bundle of lab-courier 0.1.0\n\nIt holds no patient data.\n" },
      { name: "program.json", text: '{\n  "version": "0.1.0",\n  "system": "linux"\n}\n' },
      { name: "counts.json", text: '{\n  "byState": {\n    "completed": 12\n  }\n}\n' },
    ],
    save_support: () => true,
    statistics: ({ days }) => ({
      days: Array.from({ length: days }, (_, at) => {
        const date = new Date(now - (days - 1 - at) * 86_400_000);
        const weekend = date.getDay() % 6 === 0;
        const base = weekend ? 3 : 18 + ((at * 7) % 11);
        return {
          date: date.toISOString().slice(0, 10),
          byState: {
            completed: base,
            failed: at % 3 === 0 ? 2 : 0,
            rejected: at % 4 === 1 ? 1 : 0,
            ...(at === days - 1 && { "in-progress": 4, queued: 2, held: 1 }),
          },
        };
      }),
      before: { completed: 18 * days },
      pace: { median: 42, p95: 260, reports: 18 * days },
      deadlines: { kept: 5 * days, late: days > 1 ? 2 : 0, overdue: 1, running: 3 },
      diseases: [
        { disease: "salmonellosis", subject: null, count: 5 * days },
        { disease: "chlamydia", subject: null, count: 3 * days },
        { disease: null, subject: "Mycobacterium tuberculosis complex, rifampicin susceptibility", count: days },
      ],
      causes: [
        { message: UNKNOWN_CODE, state: "failed", count: 7 },
        { message: null, state: "held", count: 2 },
      ],
      oldestOpen: rows.find((one) => one.group === "in-progress") ?? null,
      lastReceived: rows[0]?.created ?? null,
    }),
    ask_authority: ({ query, reveal }) => {
      const shown = rows.filter((row) => isAtAuthority(row)).slice(0, 6);
      const hits = shown
        .filter((row) => query.status === null || row.state === query.status)
        .map((row, at) => ({
          id: `5d1f0a2c-${1000 + row.id}`,
          status: at === 1 ? ("completed" as const) : row.state,
          identifiers: [`urn:uuid:3f6e2c1a-0b5d-4e7f-9a8b-00000000${1000 + row.id}`],
          date: row.updated,
          lastUpdated: row.updated,
          messages: row.message ? [row.message] : [],
          row: at === 2 ? null : { ...row, patient: reveal || !row.patient ? row.patient : masked(row.patient) },
        }));
      return {
        endpoint: "FOPH",
        total: hits.length + 136,
        hits: query.identifier ? [] : hits,
        messages: [],
        unreadable: 0,
        further: query.identifier ? null : 1,
      };
    },
    ask_further: () => ({ endpoint: "FOPH", total: null, hits: [], messages: [], unreadable: 0, further: null }),
    statement: ({ date }) => ({
      date,
      made: new Date().toISOString(),
      entries: rows.slice(0, 4).map((one) => ({
        id: one.id,
        created: one.created,
        sent: one.created,
        answered: one.updated,
        state: one.state,
        disease: one.disease,
        code: one.code,
        environment: one.environment,
        endpoint: one.endpoint,
        documentIdentifier: one.documentIdentifier,
        identifier: "urn:uuid:3b9a517c-e044-4d92-8fab-08c35e71d920",
        digest: "3b9a517ce0441d926fab08c35e71d9204c88fa13673b9a517ce0441d926fab08",
        receipt: `receipt-${one.id}`,
        answerStatus: 200,
        answerDigest: "5e71d9204c88fa13673b9a517ce0441d926fab083b9a517ce0441d926fab08c3",
        corrects: one.corrects,
      })),
      isCut: false,
      chainEvent: 412,
      chainHash: "c88fa13673b9a517ce0441d926fab083b9a517ce0441d926fab08c35e71d9204",
      version: "0.1.0",
    }),
  };

  return {
    here() {
      return this;
    },
    // Answers come later, as they do from the core, and never share objects with it.
    call: async (command, ...[takes]) => {
      await Promise.resolve();
      if (locked && !ALWAYS.has(command)) throw problem("window-locked", {}, "unlock-window");
      return structuredClone((answer[command] as (t: unknown) => never)(takes));
    },
    listen(given) {
      handlers = given;
      return () => {
        handlers = undefined;
      };
    },
  };
}

function isAtAuthority(row: RowView): row is RowView & { state: Processing } {
  return row.state === "in-progress" || row.state === "completed" || row.state === "failed";
}

function endpoint(name: string, baseUrl: string, environment: Environment, inUse: boolean): EndpointView {
  return {
    name,
    baseUrl,
    environment,
    release: "1.13.1",
    language: "de-CH",
    ownCa: environment === "practice",
    ca: null,
    proxy: null,
    inUse,
  };
}

/** The door of a window in a browser: options by its address, files by its own drag events. */
function browserDoor(): Door {
  const asked = new URLSearchParams(globalThis.location?.search ?? "");
  const core = createMock({
    rows: Number(asked.get("rows") ?? 64),
    environment: (asked.get("environment") as Environment | null) ?? "practice",
    firstRunDone: !asked.has("first"),
    language: asked.get("language"),
    theme: (asked.get("theme") ?? "system") as Theme,
    passphrase: asked.get("passphrase") ?? "",
    closed: asked.has("closed"),
    sealed: asked.has("sealed"),
    keychain: asked.get("keychain") !== "none",
    update: asked.get("update"),
    elsewhere: asked.has("elsewhere")
      ? [
          {
            endpoint: "Produktion",
            count: 3,
            environment: "production",
            connection: "unreachable",
            problem: problem("timeout", {}, "wait"),
          },
        ]
      : [],
    notices: [...(asked.has("recovered") ? [RECOVERED] : []), ...(asked.has("watched") ? [REFUSED, AWAY] : [])],
  });
  // A test puts a text here, before the page begins, that then stands wherever words from outside stand.
  const { hostile } = globalThis as { hostile?: string };
  return {
    here() {
      return this;
    },
    call: async (command, ...takes) => {
      const given = await core.call(command, ...takes);
      return hostile === undefined ? given : spoiled(given, hostile);
    },
    listen(handlers) {
      const end = core.listen(handlers);
      const enter = (event: DragEvent) => {
        event.preventDefault();
        handlers.drag({ phase: "enter" });
      };
      const leave = (event: DragEvent) => event.relatedTarget === null && handlers.drag({ phase: "leave" });
      const drop = (event: DragEvent) => {
        event.preventDefault();
        handlers.dropped({ paths: [...(event.dataTransfer?.files ?? [])].map((file) => `/dropped/${file.name}`) });
      };
      const tested = ({ detail: paths }: CustomEvent<string[]>) => handlers.dropped({ paths });
      document.addEventListener("dragover", enter);
      document.addEventListener("dragleave", leave);
      document.addEventListener("drop", drop);
      document.addEventListener("mock-drop", tested as EventListener);
      return () => {
        end();
        document.removeEventListener("dragover", enter);
        document.removeEventListener("dragleave", leave);
        document.removeEventListener("drop", drop);
        document.removeEventListener("mock-drop", tested as EventListener);
      };
    },
  };
}

export const door: Door = browserDoor();
