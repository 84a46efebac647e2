// What the list of reports shows: its filters and its order, as a person sets them and as a view is kept.

import type { SavedView } from "./bridge/generated/SavedView";
import { ALL } from "./bridge/queries";
import type { ListFilter } from "./bridge/queries";
import type { Only, Sent } from "./place";

/** Filters and order; a kept view is the same under a name. */
export type View = Omit<SavedView, "name">;

export const EVERYTHING: View = {
  group: null,
  states: [],
  search: "",
  period: "all",
  laboratory: null,
  about: null,
  timeliness: null,
  sort: null,
  ascending: false,
};

export const PERIODS = { all: null, today: 0, week: 7, month: 30 } as const;
export type Period = keyof typeof PERIODS;

/** Columns by which a list can be sorted. */
export type Column = "disease" | "state" | "patient" | "laboratory" | "updated" | "deadline";

/** A press on a column: its natural order, then the other one, then the newest first again. */
export function sortedBy(view: View, column: Column): Pick<View, "sort" | "ascending"> {
  const natural = column !== "updated";
  if (view.sort !== column) return { sort: column, ascending: natural };
  return view.ascending === natural ? { sort: column, ascending: !natural } : { sort: null, ascending: false };
}

/** What is asked of the core. A figure of the overview and a batch narrow what the view leaves. */
export function filterOf(view: View, language: string, { only, sent }: { only?: Only; sent?: Sent }): ListFilter {
  return {
    ...ALL,
    group: view.group,
    states: only && only.states.length > 0 ? only.states : view.states,
    search: view.search || null,
    since: only?.since ?? sinceOf(view.period as Period),
    until: only?.until ?? null,
    ids: sent?.ids ?? null,
    laboratory: view.laboratory,
    about: view.about,
    timeliness: view.timeliness,
    sort: view.sort,
    ascending: view.ascending,
    language: view.sort === "disease" ? language : null,
  };
}

/** How many filters are in force beside group and search, which are always in sight. */
export const filtersIn = (view: View): number =>
  [
    view.period !== "all",
    view.states.length > 0,
    view.laboratory !== null,
    view.about !== null,
    view.timeliness !== null,
  ].filter(Boolean).length;

export const isNarrowed = (view: View): boolean => view.search.trim() !== "" || filtersIn(view) > 0;

/** Whether a kept view is what is shown now. */
export function isSame(kept: SavedView, view: View): boolean {
  const { name: _, ...filters } = kept;
  const plain = ({ states, ...rest }: View) => JSON.stringify({ ...ordered(rest), states: states.toSorted() });
  return plain(filters) === plain({ ...view, search: view.search.trim() });
}

const ordered = (of: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(of).toSorted(([a], [b]) => a.localeCompare(b)));

function sinceOf(period: Period): string | null {
  const days = PERIODS[period] ?? null;
  if (days === null) return null;
  const date = new Date();
  date.setHours(0, 0, 0, 0);
  date.setDate(date.getDate() - days);
  return date.toISOString();
}
