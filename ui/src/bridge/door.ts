// The one door between window and core: commands by name, and its events. `tauri.ts` is the real one,
// `mock/browser.ts` a made-up one for looking at screens and for tests.

import type { Commands } from "./generated/Commands";
import type { Problem } from "./generated/Problem";

export type { Commands } from "./generated/Commands";
export type { Decision } from "./generated/Decision";

/** One change for many reports: at this element, this value becomes that. */
export type Fix = Omit<Commands["fix"]["takes"], "id">;

/** What a person sends, in one call. */
export type HandedList = Commands["hand_over"]["takes"];

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
  /** A start of the program has handed something over: `opened` says what. */
  opened: null;
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
  /** There once a room is in use: before that nothing can be asked that is of one. */
  entered(): Promise<void>;
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
