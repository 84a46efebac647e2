// Files between being chosen and being sent: kept while the reader looks elsewhere.

import { createContext, useContext, useEffect, useMemo, useReducer, useRef } from "react";

import { door } from "#door";

import { problemOf } from "./bridge/door";
import type { CandidateView } from "./bridge/generated/CandidateView";
import type { HandedView } from "./bridge/generated/HandedView";
import type { IntakeView } from "./bridge/generated/IntakeView";
import type { Problem } from "./bridge/generated/Problem";
import { dismissOfBatch } from "./kit/toasts";

/** What was chosen (a file, a folder, an archive, a pasted text) and what was found in it. */
export interface Source {
  /** Path; of a pasted text a key of its own, that no path is like. */
  path: string;
  /** A text that came from no file. */
  pasted?: Pasted;
  found: CandidateView[] | undefined;
  /** Digests of what a person has taken off the list, though it lies there. */
  without?: ReadonlySet<string>;
  /** When a person named it last: what is named again is looked at again, and asked about anew. */
  chosen: number;
  problem?: Problem;
  /** The look at it that is waited for: an earlier one may have been made in another room. */
  look: number;
}

/** A pasted text, under the name by which the list has it. */
export interface Pasted {
  name: string;
  text: string;
}

export interface Batch {
  ids: number[];
  /** Files that became no submission: refused, or known. */
  rest: CandidateView[];
  /** When it was sent, milliseconds since the epoch. */
  sentAt: number;
  /** Those that were taken back, once that was asked for. */
  held: Held | null;
}

/** What was taken back of what was sent together. */
export interface Held {
  /** How many are on hold, with those that their findings have put there before. */
  count: number;
  /** Those that were to leave and were held back; none where that was not all of them, and some had left. */
  ids: number[];
  /** How many were not taken in, and are still on the list. */
  left?: number;
}

export interface Intake {
  sources: Source[];
  batch: Batch | null;
  /** A list that is being taken in, and what takes it back. */
  taking: AbortController | null;
}

type Step =
  | { do: "choose"; paths: string[]; look: number }
  | { do: "paste"; path: string; pasted: Pasted; look: number }
  | { do: "found"; path: string; look: number; found: CandidateView[] }
  | { do: "not-read"; path: string; look: number; problem: Problem }
  | { do: "leave-out"; path: string; digest?: string }
  | { do: "restore"; source: Source; look: number }
  | { do: "clear" }
  | { do: "put-back"; sources: Source[]; look: number }
  | { do: "anew"; look: number }
  | { do: "sent"; views: IntakeView[]; at: number; left: Left; look: number }
  | { do: "taking"; taking: AbortController | null }
  | { do: "followed"; ids: number[]; at: number }
  | { do: "undone"; held: Held }
  | { do: "close-batch" };

/** What a hand-over does to the list: what went leaves it, but for what failed, which is looked at again. */
export interface Left {
  gone: readonly Source[];
  anew: readonly Source[];
}

/** What the key of a pasted text begins with; no path does. */
const PASTED = "pasted:";
/** Files looked at side by side. */
const LOOKS = 6;

export function intakeReducer(state: Intake, step: Step): Intake {
  switch (step.do) {
    case "choose": {
      // A folder that is on the list may hold more by now, and a file something else.
      const named = new Set(step.paths);
      const source = (path: string): Source => ({ path, found: undefined, look: step.look, chosen: step.look });
      const known = new Set(state.sources.map(({ path }) => path));
      const fresh = [...named].filter((path) => !known.has(path));
      const sources = state.sources.map((one) => (named.has(one.path) ? source(one.path) : one));
      return { ...state, sources: [...sources, ...fresh.map(source)] };
    }
    case "paste":
      return {
        ...state,
        sources: [
          ...state.sources,
          { path: step.path, pasted: step.pasted, found: undefined, look: step.look, chosen: step.look },
        ],
      };
    case "found":
    case "not-read":
      return {
        ...state,
        sources: state.sources.map((source) =>
          source.path !== step.path || source.look !== step.look
            ? source
            : step.do === "found"
              ? { ...source, found: step.found.filter(({ digest }) => !source.without?.has(digest)) }
              : { ...source, found: [], problem: step.problem },
        ),
      };
    case "leave-out":
      return {
        ...state,
        sources: state.sources.flatMap((source) =>
          source.path === step.path ? leftWithout(source, step.digest) : [source],
        ),
      };
    case "restore": {
      const { problem: _, ...before } = step.source;
      const source = { ...before, found: undefined, look: step.look };
      const isThere = state.sources.some(({ path }) => path === source.path);
      const sources = state.sources.map((one) => (one.path === source.path ? source : one));
      return { ...state, sources: isThere ? sources : [source, ...sources] };
    }
    case "clear":
      return { ...state, sources: [] };
    case "put-back": {
      // What was named again meanwhile is on the list already.
      const known = new Set(state.sources.map(({ path }) => path));
      const away = step.sources.filter(({ path }) => !known.has(path));
      const back = away.map(({ problem: _, ...source }) => ({ ...source, found: undefined, look: step.look }));
      return { ...state, sources: [...back, ...state.sources] };
    }
    case "anew":
      return {
        ...state,
        sources: state.sources.map(({ problem: _, ...source }) => ({ ...source, found: undefined, look: step.look })),
      };
    case "sent": {
      const ids = step.views.flatMap((view) => view.submissions.filter((id) => id !== null));
      const rest = step.views.flatMap((view) =>
        view.files.filter((_, at) => view.submissions[at] === null && !view.failed.includes(at)),
      );
      // Where all of it failed, what was sent before may still be taken back.
      const batch = ids.length + rest.length > 0 ? { ids, rest, sentAt: step.at, held: null } : state.batch;
      return { sources: afterwards(state.sources, step.left, step.look), batch, taking: null };
    }
    case "taking":
      return { ...state, taking: step.taking };
    case "followed":
      // What became no report of the list before still did not.
      return { ...state, batch: { ids: step.ids, rest: state.batch?.rest ?? [], sentAt: step.at, held: null } };
    case "undone":
      return { ...state, batch: state.batch && { ...state.batch, held: step.held } };
    case "close-batch":
      return { ...state, batch: null };
  }
}

/** A source without one of its contents; nothing of it is left where that was all. */
function leftWithout(source: Source, digest: string | undefined): Source[] {
  const found = source.found?.filter((view) => view.digest !== digest) ?? [];
  if (!digest || found.length === 0) return [];
  return [{ ...source, found, without: new Set([...(source.without ?? []), digest]) }];
}

/** What was chosen or dropped while the hand-over was under way was no part of it, and stays: also where it is on the list once more. */
function afterwards(sources: Source[], { gone, anew }: Left, look: number): Source[] {
  const isOf = (some: readonly Source[]) => (source: Source) =>
    some.some(({ path, chosen }) => path === source.path && chosen === source.chosen);
  const [isGone, isAnew] = [isOf(gone), isOf(anew)];
  return sources
    .filter((source) => !isGone(source) || isAnew(source))
    .map((source) => {
      const { problem: _, ...rest } = source;
      return isAnew(source) ? { ...rest, found: undefined, look } : source;
    });
}

/**
 * What is left to be sent of what was handed over, and what of it is still to be sent again: not what was just taken in,
 * which would be a further report.
 */
export function leftOf(
  sources: Source[],
  again: ReadonlySet<string>,
  { items, gone }: Pick<HandedView, "items" | "gone">,
): { left: Left; again: ReadonlySet<string> } {
  const away = new Set(gone.files.map(({ digest }) => digest));
  const left: { gone: Source[]; anew: Source[] } = { gone: [], anew: [] };
  const still = new Set<string>();
  for (const [at, source] of sources.entries()) {
    const view = items[at];
    const failed = view?.files.filter((_, one) => view.failed.includes(one)) ?? [];
    // What could not even be looked at is as it was.
    const isUnread = !view || (view.files.length === 0 && view.problem !== null);
    if (!isUnread) left.gone.push(source);
    if (failed.length > 0 || source.found?.some(({ digest }) => away.has(digest))) left.anew.push(source);
    const [only, ...others] = source.found ?? [];
    const hasFailedAlone = others.length === 0 && failed.length === 1 && failed[0]?.digest === only?.digest;
    if (again.has(source.path) && (isUnread || hasFailedAlone)) still.add(source.path);
  }
  return { left, again: still };
}

export interface IntakeDesk extends Intake {
  choose: (paths: string[]) => void;
  paste: (pasted: Pasted) => void;
  /** A whole source, or one content of it. */
  leaveOut: (path: string, digest?: string) => void;
  /** Puts a source back as it was before something of it was left out, and looks at it again. */
  restore: (source: Source) => void;
  clear: () => void;
  /** Puts on the list again what was taken off it: it is looked at again, for the files may have changed. */
  putBack: (sources: Source[]) => void;
  /** Looks at all of these again: they are judged for another place now. */
  lookAnew: (sources: Source[]) => void;
  /** `left`: what stays on the list; all of it where nothing of it was handed over. */
  sent: (views: IntakeView[], left?: Left) => void;
  /** From here on a list is taken in, until it is `sent`, or with `null` is not. */
  takes: (taking: AbortController | null) => void;
  /** What is sent by a decision is followed as what was handed over. */
  followed: (ids: number[]) => void;
  undone: (held: Held) => void;
  closeBatch: () => void;
}

/** `reveal`: whether names are shown. The core masks them, so a change of mind looks at the whole list again. */
export function useIntakeDesk(reveal: boolean, locked: boolean): IntakeDesk {
  const [intake, step] = useReducer(intakeReducer, { sources: [], batch: null, taking: null });
  const shown = useRef(reveal);
  const acts = useMemo(() => {
    let looks = 0;
    return {
      choose(paths: string[]) {
        if (paths.length === 0) return;
        looks += 1;
        step({ do: "choose", paths, look: looks });
        void look(paths, looks, step, shown.current);
      },
      paste(pasted: Pasted) {
        pastes += 1;
        looks += 1;
        const source = { path: `${PASTED}${pastes}`, look: looks };
        step({ do: "paste", ...source, pasted });
        void lookInto(source, door.here().call("inspect_text", { ...pasted, reveal: shown.current }), step);
      },
      leaveOut: (path: string, digest?: string) => step({ do: "leave-out", path, ...(digest && { digest }) }),
      restore(source: Source) {
        looks += 1;
        step({ do: "restore", source, look: looks });
        lookAt([source], looks, step, shown.current);
      },
      clear: () => step({ do: "clear" }),
      putBack(sources: Source[]) {
        looks += 1;
        step({ do: "put-back", sources, look: looks });
        lookAt(sources, looks, step, shown.current);
      },
      lookAnew(sources: Source[]) {
        looks += 1;
        step({ do: "anew", look: looks });
        lookAt(sources, looks, step, shown.current);
      },
      sent(views: IntakeView[], left: Left = { gone: [], anew: [] }) {
        looks += 1;
        step({ do: "sent", views, at: Date.now(), left, look: looks });
        // A pasted text has not changed, but what it is beside may have gone.
        lookAt([...left.anew], looks, step, shown.current);
      },
      takes: (taking: AbortController | null) => step({ do: "taking", taking }),
      followed: (ids: number[]) => step({ do: "followed", ids, at: Date.now() }),
      undone(held: Held) {
        dismissOfBatch();
        step({ do: "undone", held });
      },
      closeBatch: () => step({ do: "close-batch" }),
    };
  }, []);
  const { sources } = intake;
  useEffect(() => {
    // A locked window is told nothing; it is looked at when it is open again.
    if (locked || shown.current === reveal) return;
    shown.current = reveal;
    acts.lookAnew(sources);
  }, [reveal, locked, sources, acts]);
  return useMemo(() => ({ ...intake, ...acts }), [intake, acts]);
}

/** Texts that were pasted since the start: two of them are two, though they say the same. */
let pastes = 0;

async function lookInto(
  source: { path: string; look: number },
  looked: Promise<CandidateView[]>,
  step: (step: Step) => void,
): Promise<void> {
  try {
    step({ do: "found", ...source, found: await looked });
  } catch (thrown) {
    step({ do: "not-read", ...source, problem: problemOf(thrown) });
  }
}

/** Looks at sources that are on the list. */
function lookAt(sources: Source[], number: number, step: (step: Step) => void, reveal: boolean): void {
  const files = sources.filter(({ pasted }) => !pasted).map(({ path }) => path);
  void look(files, number, step, reveal);
  for (const { path, pasted } of sources) {
    if (pasted) {
      const looked = door.here().call("inspect_text", { ...pasted, reveal });
      void lookInto({ path, look: number }, looked, step);
    }
  }
}

async function look(paths: string[], number: number, step: (step: Step) => void, reveal: boolean): Promise<void> {
  const waiting = [...paths];
  await door.entered();
  const here = door.here();
  const one = async () => {
    for (let path = waiting.shift(); path !== undefined; path = waiting.shift()) {
      await lookInto({ path, look: number }, here.call("inspect_files", { paths: [path], reveal }), step);
    }
  };
  await Promise.all(Array.from({ length: LOOKS }, one));
}

export const IntakeContext = createContext<IntakeDesk | undefined>(undefined);

export function useIntake(): IntakeDesk {
  const desk = useContext(IntakeContext);
  if (!desk) throw new Error("outside the window");
  return desk;
}

/** States in which a known report will reach the authority by itself, waits for a person, or was replaced: it goes no second time. */
const UNDECIDED = new Set(["held", "queued", "sending", "unknown", "in-progress", "superseded"]);

/** Known reports that go once more where that is asked for, each content once. */
export function repeated(sources: Source[]): CandidateView[] {
  const known = sources.flatMap((source) => source.found ?? []).filter((view) => view.verdict === "known");
  const settled = known.filter((view) => !UNDECIDED.has(view.knownState ?? ""));
  return [...new Map(settled.map((view) => [view.digest, view])).values()];
}

/** Verdicts of what may go. */
const TO_GO = new Set(["ready", "warnings", "errors"]);

/** No contents. */
const NONE: ReadonlySet<string> = new Set();

/**
 * Whether it is asked what it is: a report with its identifier is open or completed, and says something else. It goes only
 * where a person has said that it is another report.
 */
export const isAsked = (view: CandidateView): boolean =>
  view.corrects !== null && !view.corrects.possible && TO_GO.has(view.verdict);

/** Files that have the content of one above them on the list, be it as JSON or as XML: it goes once. */
export function twins(sources: Source[]): Set<CandidateView> {
  const [seen, again] = [new Set<string>(), new Set<CandidateView>()];
  for (const view of sources.flatMap((source) => source.found ?? [])) {
    if (!TO_GO.has(view.verdict)) continue;
    const content = contentOf(view);
    if (seen.has(content)) again.add(view);
    seen.add(content);
  }
  return again;
}

/** Reports of the list that have one identifier and say different things, each with another one of these: which of them
 *  counts, only a person knows. */
export function rivals(sources: Source[]): Map<CandidateView, CandidateView> {
  const again = twins(sources);
  const found = sources.flatMap((source) => source.found ?? []);
  const named = found.filter((view) => TO_GO.has(view.verdict) && view.documentIdentifier && !again.has(view));
  const groups = new Map<string | null, CandidateView[]>();
  for (const view of named) {
    groups.set(view.documentIdentifier, [...(groups.get(view.documentIdentifier) ?? []), view]);
  }
  const pairs = [...groups.values()].flatMap((views) =>
    views.flatMap((view, at) => {
      const other = views[at === 0 ? 1 : 0];
      return other ? [[view, other] as const] : [];
    }),
  );
  return new Map(pairs);
}

/** What goes only where a person has said so, with the copies of it: one that is chosen goes once, one that is not goes in no
 *  form. */
export function questions(sources: Source[]): Set<CandidateView> {
  const found = sources.flatMap((source) => source.found ?? []);
  const contents = new Set([...rivals(sources).keys()].map(contentOf));
  return new Set(found.filter((view) => isAsked(view) || (TO_GO.has(view.verdict) && contents.has(contentOf(view)))));
}

const contentOf = (view: CandidateView) => view.content ?? view.digest;

/** Whether anything of it goes: what nobody has asked for is not handed over, wherever it is known by then. */
export function isToGo(
  source: Source,
  again: ReadonlySet<string>,
  beside = NONE,
  asked = questions([source]),
): boolean {
  const { send, correction } = tally([source], beside, asked);
  return send + correction > 0 || again.has(source.path);
}

/** Whether it could not be read at all: it may well be a report, and nobody says that it is none. */
export const isUnreadable = ({ verdict, kind }: CandidateView): boolean => verdict === "refused" && kind === "unknown";

/** What the button counts: what goes, and what is taken in and kept for correction. `beside`: digests of what goes because
 *  somebody has decided so; `asked`: what waits for such a decision. */
export function tally(
  sources: Source[],
  beside = NONE,
  asked: ReadonlySet<CandidateView> = questions(sources),
): {
  send: number;
  correction: number;
  twice: number;
  known: number;
  refused: number;
  unreadable: number;
  looking: number;
  asked: number;
} {
  const again = twins(sources);
  const found = sources.flatMap((source) => source.found ?? []).filter((view) => !again.has(view));
  const waits = (view: CandidateView) => asked.has(view) && !beside.has(view.digest);
  const of = (...verdicts: string[]) => found.filter((view) => verdicts.includes(view.verdict) && !waits(view)).length;
  const unread = found.filter((view) => isUnreadable(view) && !waits(view)).length;
  return {
    send: of("ready", "warnings"),
    correction: of("errors"),
    twice: again.size,
    known: of("known"),
    refused: of("refused") - unread,
    unreadable: unread + sources.filter((source) => source.problem).length,
    looking: sources.filter((source) => source.found === undefined).length,
    asked: found.filter(waits).length,
  };
}
