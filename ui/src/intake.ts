// Files between being chosen and being sent: kept while the reader looks elsewhere.

import { createContext, useContext, useMemo, useReducer } from "react";

import { door } from "#door";

import { problemOf } from "./bridge/door";
import type { CandidateView } from "./bridge/generated/CandidateView";
import type { IntakeView } from "./bridge/generated/IntakeView";
import type { Problem } from "./bridge/generated/Problem";

/** What was chosen (a file, a folder, an archive) and what was found in it. */
export interface Source {
  path: string;
  found: CandidateView[] | undefined;
  problem?: Problem;
  /** The look at it that is waited for: an earlier one may have been made in another room. */
  look: number;
}

export interface Batch {
  ids: number[];
  /** Files that became no submission: refused, or known. */
  rest: CandidateView[];
  /** When it was sent, milliseconds since the epoch. */
  sentAt: number;
  /** How many were taken back, once that was asked for. */
  held: number | null;
}

export interface Intake {
  sources: Source[];
  batch: Batch | null;
}

type Step =
  | { do: "choose"; paths: string[]; look: number }
  | { do: "found"; path: string; look: number; found: CandidateView[] }
  | { do: "not-read"; path: string; look: number; problem: Problem }
  | { do: "leave-out"; path: string }
  | { do: "clear" }
  | { do: "sent"; views: IntakeView[]; at: number }
  | { do: "undone"; held: number }
  | { do: "close-batch" };

/** Files looked at side by side. */
const LOOKS = 6;

export function intakeReducer(state: Intake, step: Step): Intake {
  switch (step.do) {
    case "choose": {
      const known = new Set(state.sources.map((source) => source.path));
      const fresh = step.paths.filter((path) => !known.has(path));
      return { ...state, sources: [...state.sources, ...fresh.map((path) => ({ path, found: undefined, look: step.look }))] };
    }
    case "found":
    case "not-read":
      return {
        ...state,
        sources: state.sources.map((source) =>
          source.path !== step.path || source.look !== step.look
            ? source
            : step.do === "found"
              ? { ...source, found: step.found }
              : { ...source, found: [], problem: step.problem },
        ),
      };
    case "leave-out":
      return { ...state, sources: state.sources.filter((source) => source.path !== step.path) };
    case "clear":
      return { ...state, sources: [] };
    case "sent": {
      const ids = step.views.flatMap((view) => view.submissions.filter((id) => id !== null));
      const rest = step.views.flatMap((view) => view.files.filter((_, at) => view.submissions[at] === null));
      return { sources: [], batch: { ids, rest, sentAt: step.at, held: null } };
    }
    case "undone":
      return { ...state, batch: state.batch && { ...state.batch, held: step.held } };
    case "close-batch":
      return { ...state, batch: null };
  }
}

export interface IntakeDesk extends Intake {
  choose: (paths: string[]) => void;
  leaveOut: (path: string) => void;
  clear: () => void;
  sent: (views: IntakeView[]) => void;
  undone: (held: number) => void;
  closeBatch: () => void;
}

export function useIntakeDesk(): IntakeDesk {
  const [intake, step] = useReducer(intakeReducer, { sources: [], batch: null });
  const acts = useMemo(() => {
    let looks = 0;
    return {
      choose(paths: string[]) {
        if (paths.length === 0) return;
        looks += 1;
        step({ do: "choose", paths, look: looks });
        void look(paths, looks, step);
      },
      leaveOut: (path: string) => step({ do: "leave-out", path }),
      clear: () => step({ do: "clear" }),
      sent: (views: IntakeView[]) => step({ do: "sent", views, at: Date.now() }),
      undone: (held: number) => step({ do: "undone", held }),
      closeBatch: () => step({ do: "close-batch" }),
    };
  }, []);
  return useMemo(() => ({ ...intake, ...acts }), [intake, acts]);
}

async function look(paths: string[], number: number, step: (step: Step) => void): Promise<void> {
  const waiting = [...paths];
  const here = door.here();
  const one = async () => {
    for (let path = waiting.shift(); path !== undefined; path = waiting.shift()) {
      try {
        step({ do: "found", path, look: number, found: await here.call("inspect_files", { paths: [path] }) });
      } catch (thrown) {
        step({ do: "not-read", path, look: number, problem: problemOf(thrown) });
      }
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

/** What the button counts. */
export function tally(sources: Source[]): { send: number; correction: number; known: number; refused: number; looking: number } {
  const found = sources.flatMap((source) => source.found ?? []);
  const of = (...verdicts: string[]) => found.filter((view) => verdicts.includes(view.verdict)).length;
  return {
    send: of("ready", "warnings", "errors"),
    correction: of("errors"),
    known: of("known"),
    refused: of("refused") + sources.filter((source) => source.problem).length,
    looking: sources.filter((source) => source.found === undefined).length,
  };
}
