// Lists of reports in the made-up core: what a filter leaves, what each other one would leave, and the views
// that are kept.

import type { Action } from "../generated/Action";
import type { AboutView } from "../generated/AboutView";
import type { ListCountsView } from "../generated/ListCountsView";
import type { ListQuery } from "../generated/ListQuery";
import type { PageView } from "../generated/PageView";
import type { RowView } from "../generated/RowView";
import type { SavedView } from "../generated/SavedView";
import type { Timeliness } from "../generated/Timeliness";
import type { Answers } from "./answers";
import { tallied } from "./journal";
import type { Journal } from "./journal";
import { actionsOf, masked } from "./reports";

const FAILED_THIS_WEEK: SavedView = {
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
};

export function createLists({ rows, find }: Journal) {
  let views = [FAILED_THIS_WEEK];
  const answers = {
    list: ({ query, reveal }) => listed(rows, query, reveal),
    list_counts: ({ query }) => counted(rows, query),
    matching: ({ query }) => matching(rows, query).map((one) => one.id),
    chosen: ({ ids }) => {
      const actions = ids.flatMap((id) => actionsOf(find(id).state));
      const begun = (action: Action) =>
        ids.filter((id) => find(id).draft && actionsOf(find(id).state).includes(action));
      const drafts = [...new Set(actions)].map((action) => [action, begun(action)] as const);
      return {
        count: ids.length,
        actions: tallied(actions),
        drafts: Object.fromEntries(drafts.filter(([, begun]) => begun.length > 0)),
        takenBack: ids.filter((id) => find(id).takenBack !== null && find(id).state === "held"),
      };
    },
    save_table: () => true,
    saved_views: () => views,
    keep_view({ view }) {
      views = [...views.filter((one) => one.name !== view.name), view];
      return null;
    },
    forget_view({ name }) {
      views = views.filter((one) => one.name !== name);
      return null;
    },
  } satisfies Partial<Answers>;
  return { answers };
}

function matching(rows: readonly RowView[], query: ListQuery): RowView[] {
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
      (!text || [one.file, one.subject, one.patient, one.message?.text].join(" ").toLowerCase().includes(text)),
  );
  const { sort, ascending } = query;
  if (!sort) return found;
  const word = (one: RowView) => String(one[sort as keyof RowView] ?? "");
  return found.toSorted((a, b) => (ascending ? 1 : -1) * word(a).localeCompare(word(b)));
}

function listed(rows: readonly RowView[], query: ListQuery, reveal: boolean): PageView {
  const found = matching(rows, query);
  const { before, limit } = query;
  const from = before === null ? found : found.slice(found.findIndex((one) => one.id === before) + 1);
  const page = from.slice(0, limit ?? 100);
  return {
    rows: page.map((one) => ({ ...one, patient: reveal || !one.patient ? one.patient : masked(one.patient) })),
    next: page.length < from.length ? (page.at(-1)?.id ?? null) : null,
    total: found.length,
  };
}

function counted(rows: readonly RowView[], query: ListQuery): ListCountsView {
  const left = (by: Partial<ListQuery>) => matching(rows, { ...query, ...by });
  const laboratories = tallied(left({ laboratory: null }).flatMap((one) => one.laboratory ?? []));
  const diseases = tallied(left({ about: null }).map(aboutOf));
  return {
    groups: tallied(left({ group: null, states: [] }).map((one) => one.group)),
    states: tallied(left({ states: [] }).map((one) => one.state)),
    laboratories: Object.entries(laboratories).map(([name, count]) => ({ name, count })),
    diseases: Object.entries(diseases).map(([about, count]) => ({ ...(JSON.parse(about) as AboutView), count })),
    timeliness: tallied(left({ timeliness: null }).flatMap((one) => timelinessOf(one) ?? [])),
    atLeast: false,
    choicesCounted: null,
  };
}

const aboutOf = ({ disease, subject }: AboutView) =>
  JSON.stringify(disease ? { disease, subject: null } : { disease, subject });

const timelinessOf = ({ due }: RowView): Timeliness | null =>
  due ? (Date.parse(due) < Date.now() ? "overdue" : "running") : null;
