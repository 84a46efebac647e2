// The only cache. The journal's revision says when it is stale; nothing here is mirrored elsewhere.

import {
  QueryClient,
  keepPreviousData,
  useInfiniteQuery,
  useMutation,
  useQuery,
  useQueryClient,
} from "@tanstack/react-query";

import { door } from "#door";

import type { Command, Commands } from "./door";
import type { BackupView } from "./generated/BackupView";
import { FOLLOWS_JOURNAL, STALE } from "./generated/Commands";
import type { ListQuery } from "./generated/ListQuery";
import type { Problem } from "./generated/Problem";

declare module "@tanstack/react-query" {
  interface Register {
    defaultError: Problem;
  }
}

/** Rows fetched at a time. */
const PAGE = 200;
/** Changes that arrive within this time are fetched once. */
const SETTLE_MS = 200;

export function createCache(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      // The core is on this computer: no retry, no window focus, no network state.
      queries: { retry: false, staleTime: Infinity, refetchOnWindowFocus: false, networkMode: "always" },
      mutations: { retry: false, networkMode: "always" },
    },
  });
}

/**
 * Fetches again what follows the journal, once for a burst of changes. A change during a fetch waits for its
 * end: a steady stream would otherwise cancel every fetch.
 */
export function journalFollower(cache: QueryClient): () => void {
  let stale = false;
  let running = false;
  const run = async () => {
    running = true;
    while (stale) {
      await new Promise((settled) => setTimeout(settled, SETTLE_MS));
      stale = false;
      await Promise.all(FOLLOWS_JOURNAL.map((command) => cache.invalidateQueries({ queryKey: [command] })));
    }
    running = false;
  };
  return () => {
    stale = true;
    if (!running) void run();
  };
}

/** Fetches again what follows the journal, after what was not asked by `useCommand`. */
export const followJournal = (cache: QueryClient): void => {
  for (const key of FOLLOWS_JOURNAL) void cache.invalidateQueries({ queryKey: [key] });
};

export const useStatus = () => useQuery({ queryKey: ["status"], queryFn: () => door.call("status") });

export const usePreferences = () => useQuery({ queryKey: ["preferences"], queryFn: () => door.call("preferences") });

/** Settings are no part of the journal: another program may have changed them since a screen was last open. */
const ON_OPENING = { staleTime: 0 };

export const useEndpoints = () =>
  useQuery({ queryKey: ["endpoints"], queryFn: () => door.call("endpoints"), ...ON_OPENING });

/** What using another endpoint would send and what not. */
export const useEndpointPlan = (name: string) =>
  useQuery({ queryKey: ["plan_endpoint", name], queryFn: () => door.call("plan_endpoint", { name }), ...ON_OPENING });

export const useCertificates = () =>
  useQuery({ queryKey: ["certificates"], queryFn: () => door.call("certificates"), ...ON_OPENING });

/** What files of certificates are, as far as no password is needed; they may be others the next time. */
export const useCertificateLook = (paths: string[]) =>
  useQuery({
    queryKey: ["certificate_look", paths],
    queryFn: () => door.call("certificate_inspect", { paths, password: "" }),
    gcTime: 0,
    ...ON_OPENING,
  });

/** `now`: with each day that begins, they are those of other days. */
export const useStatistics = (days: number, now: number) =>
  useQuery({
    queryKey: ["statistics", days, new Date(now).toDateString()],
    queryFn: () => door.call("statistics", { days }),
    placeholderData: keepPreviousData,
  });

/** What was taken in on a day, and what became of it. */
export const useStatement = (date: string) =>
  useQuery({ queryKey: ["statement", date], queryFn: () => door.call("statement", { date }) });

/** How far reports are that were sent together. */
export const useBatch = (ids: number[]) =>
  useQuery({ queryKey: ["batch", ids], queryFn: () => door.call("batch", { ids }), enabled: ids.length > 0 });

/** Reports whose values in question are counted for a picture of their cause. */
export const COUNTED_MAX = 200;

/** The elements that a cause is about, with the values that they have. */
export function useCauseFields(all: number[]) {
  const ids = all.slice(0, COUNTED_MAX);
  return useQuery({
    queryKey: ["cause_fields", ids],
    queryFn: () => door.call("cause_fields", { ids }),
    placeholderData: keepPreviousData,
  });
}

/** Reports that one call may name. */
const NAMED_MAX = 10_000;

/** Of reports that each stand for a cause: when that was corrected before they came in, by their number. */
export function useCameBack(all: number[]) {
  const ids = all.slice(0, NAMED_MAX);
  const read = useQuery({
    queryKey: ["came_back", ids],
    queryFn: () => door.call("came_back", { ids }),
    placeholderData: keepPreviousData,
    enabled: ids.length > 0,
  });
  return { read, corrected: new Map(read.data?.map(({ id, corrected }) => [id, corrected])) };
}

export const useDetail = (id: number, enabled = true) =>
  useQuery({ queryKey: ["detail", id], queryFn: () => door.call("detail", { id }), enabled });

/** Asks again which reports have a draft: keeping one is no event of the journal, so nothing else tells of it. */
export const followDrafts = (cache: QueryClient): void => {
  for (const key of ["detail", "list", "chosen"]) void cache.invalidateQueries({ queryKey: [key] });
};

/** What a list is asked for, without the paging. */
export type ListFilter = Omit<ListQuery, "before" | "limit">;

/** All reports, the newest first. */
export const ALL: ListFilter = {
  group: null,
  states: [],
  search: null,
  since: null,
  until: null,
  ids: null,
  laboratory: null,
  about: null,
  timeliness: null,
  sort: null,
  ascending: false,
  language: null,
};

export const useList = (filter: ListFilter, reveal: boolean) =>
  useInfiniteQuery({
    queryKey: ["list", filter, reveal],
    initialPageParam: null as number | null,
    queryFn: ({ pageParam }) => door.call("list", { query: { ...filter, before: pageParam, limit: PAGE }, reveal }),
    getNextPageParam: (page) => page.next,
    placeholderData: keepPreviousData,
  });

/** What each filter of a list would leave. */
export const useListCounts = (filter: ListFilter) =>
  useQuery({
    queryKey: ["list_counts", filter],
    queryFn: () => door.call("list_counts", { query: { ...filter, before: null, limit: null } }),
    placeholderData: keepPreviousData,
  });

/** What may be done with chosen reports. */
export const useChosen = (ids: number[]) =>
  useQuery({
    queryKey: ["chosen", ids],
    queryFn: () => door.call("chosen", { ids }),
    placeholderData: keepPreviousData,
    enabled: ids.length > 0,
  });

/** The views that are kept in this room: what another one keeps is never shown here. */
export function useSavedViews() {
  const room = useStatus().data?.room;
  return useQuery({
    queryKey: ["saved_views", room],
    queryFn: () => door.call("saved_views"),
    enabled: room !== undefined,
  });
}

/** The changes of many reports in this room that were broken off. */
export function useUnfinishedFixes() {
  const room = useStatus().data?.room;
  return useQuery({
    queryKey: ["unfinished_fixes", room],
    queryFn: () => door.call("unfinished_fixes"),
    enabled: room !== undefined,
  });
}

/** By when reports have to be with the authority, in this room. */
export function useDeadlines() {
  const room = useStatus().data?.room;
  return useQuery({
    queryKey: ["deadlines", room],
    queryFn: () => door.call("deadlines"),
    enabled: room !== undefined,
  });
}

/** What a restore has lost: what is found or handed over again leaves it. */
export function useLostReports(reveal: boolean) {
  const room = useStatus().data?.room;
  return useQuery({
    queryKey: ["lost_reports", room, reveal],
    queryFn: () => door.call("lost_reports", { reveal }),
    enabled: room !== undefined,
  });
}

/** What was left lying in the watched folder of this room; the files may have gone since a screen was last open. */
export function useLeftLying() {
  const room = useStatus().data?.room;
  return useQuery({
    queryKey: ["left_lying", room],
    queryFn: () => door.call("left_lying"),
    enabled: room !== undefined,
    ...ON_OPENING,
  });
}

/** The files of the watched folder; what is taken away from it changes no journal. */
export function useWatchedFiles(reveal: boolean) {
  const room = useStatus().data?.room;
  return useQuery({
    queryKey: ["watched_files", room, reveal],
    queryFn: () => door.call("watched_files", { reveal }),
    enabled: room !== undefined,
    ...ON_OPENING,
  });
}

/** The packages of rules of this room. */
export function useRules() {
  const room = useStatus().data?.room;
  return useQuery({
    queryKey: ["rules", room],
    queryFn: () => door.call("rules"),
    enabled: room !== undefined,
    ...ON_OPENING,
  });
}

/** What another package of rules would say of the last reports; never from before, for reports have come since. */
export const useRulesPlan = (name: string) =>
  useQuery({
    queryKey: ["plan_rules", name],
    queryFn: () => door.call("plan_rules", { package: name }),
    ...ON_OPENING,
    gcTime: 0,
  });

/** A newer version comes by itself, once a day. */
const UPDATES_MS = 10 * 60_000;

export const useUpdates = () =>
  useQuery({ queryKey: ["updates"], queryFn: () => door.call("updates"), refetchInterval: UPDATES_MS });

/** What is kept beside the journal; the files may have changed since a screen was last open. */
export const useSafekeeping = () =>
  useQuery({ queryKey: ["safekeeping"], queryFn: () => door.call("safekeeping"), ...ON_OPENING });

/** Who has changed what of the settings. */
export const useAuditLog = () =>
  useQuery({ queryKey: ["audit_log"], queryFn: () => door.call("audit_log"), ...ON_OPENING });

/** How many reports a rule of retention concerns now; never from before. */
export const useRetentionPlan = (days: number) =>
  useQuery({
    queryKey: ["plan_retention", days],
    queryFn: () => door.call("plan_retention", { days }),
    ...ON_OPENING,
    gcTime: 0,
  });

/** What the restore of a backup would mean now; never from before, for reports have come since. */
export const useRestorePlan = (backup: BackupView | undefined) =>
  useQuery({
    queryKey: ["plan_restore", backup?.name, backup?.elsewhere],
    queryFn: () => door.call("plan_restore", { name: backup?.name ?? "", elsewhere: backup?.elsewhere ?? false }),
    enabled: backup !== undefined,
    ...ON_OPENING,
    gcTime: 0,
  });

/** One page of rows, for what needs few. */
export const useRows = (query: ListQuery, enabled = true, reveal = false) =>
  useQuery({
    queryKey: ["list", query, reveal],
    queryFn: () => door.call("list", { query, reveal }),
    placeholderData: keepPreviousData,
    enabled,
  });

/** Fetches again what a command has changed that was not asked by `useCommand`. */
export function useRefresh(): (command: Command) => void {
  const cache = useQueryClient();
  return (command) => {
    for (const key of STALE[command]) void cache.invalidateQueries({ queryKey: [key] });
  };
}

/** A command that changes something; afterwards what the core says to be stale is fetched again. */
export function useCommand<C extends Command>(
  command: C,
  options: { onDone?: (gives: Commands[C]["gives"], takes: Commands[C]["takes"]) => void } = {},
) {
  return useMutation<Commands[C]["gives"], Problem, Commands[C]["takes"]>({
    mutationFn: (takes) => (door.call as (c: C, t?: unknown) => Promise<Commands[C]["gives"]>)(command, takes),
    onSuccess: (gives, takes, _context, { client }) => {
      for (const key of STALE[command]) void client.invalidateQueries({ queryKey: [key] });
      options.onDone?.(gives, takes);
    },
    onError: (problem, _takes, _context, { client }) => {
      // It was done, and only could not be noted.
      if (problem.code !== "audit-not-written") return;
      for (const key of STALE[command]) void client.invalidateQueries({ queryKey: [key] });
    },
  });
}
