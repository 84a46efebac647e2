// Where the reader is. A union: two screens can never be open at once.

import { createContext, useContext, useEffect, useRef } from "react";

import type { AboutView } from "./bridge/generated/AboutView";
import type { Group } from "./bridge/generated/Group";
import type { State } from "./bridge/generated/State";
import type { Timeliness } from "./bridge/generated/Timeliness";

export type Place =
  | { screen: "send" }
  | { screen: "reports"; group: Group | null; open: number | null; sent?: Sent; only?: Only; corrects?: true }
  | { screen: "correct"; open: number | null; cause?: string }
  | { screen: "overview"; stating?: boolean }
  | { screen: "ask"; about?: { report: number; identifier: string } }
  | { screen: "certificate" }
  | { screen: "settings"; adds?: boolean; files?: boolean; ca?: string; at?: Section };

/** Parts of the settings that have a name of their own. */
export type Section = "deadlines" | "rules" | "safekeeping";

/** Reports that were sent together, as a filter of the list. */
export interface Sent {
  ids: number[];
  /** Milliseconds since the epoch. */
  at: number;
  /** They were not sent, but picked out of others. */
  chosen?: boolean;
}

/** What a figure of the overview counted, as a filter of the list. */
export interface Only {
  /** ISO instants: from, and before. */
  since: string | null;
  until: string | null;
  states: State[];
  search?: string;
  about?: AboutView;
  timeliness?: Timeliness;
}

export type Screen = Place["screen"];

export const HOME: Record<Screen, Place> = {
  send: { screen: "send" },
  reports: { screen: "reports", group: null, open: null },
  correct: { screen: "correct", open: null },
  overview: { screen: "overview" },
  ask: { screen: "ask" },
  certificate: { screen: "certificate" },
  settings: { screen: "settings" },
};

export interface Window {
  place: Place;
  go: (place: Place) => void;
  /** Whether names are shown in lists. */
  reveal: boolean;
  setReveal: (reveal: boolean) => void;
}

export const WindowContext = createContext<Window | undefined>(undefined);

export function useWindow(): Window {
  const window = useContext(WindowContext);
  if (!window) throw new Error("outside the window");
  return window;
}

/** The report that is open beside a list, if any. */
export const openReport = (place: Place): number | null => ("open" in place ? place.open : null);

/** A place in a report that was asked for: a field, or a line of its source. A new object asks again. */
export interface Pointer {
  section: number | null;
  field: string | null;
  line: number | null;
}

/** Closes what names reports by number as soon as another room is in use: there they are other reports. */
export function useOtherRoom(room: number | string | undefined, close: () => void): void {
  const before = useRef(room);
  const latest = useRef(close);
  useEffect(() => {
    latest.current = close;
  });
  useEffect(() => {
    if (room === undefined) return;
    if (before.current !== undefined && before.current !== room) latest.current();
    before.current = room;
  }, [room]);
}

/** Does once what was asked for with a place: whoever comes back to the place has not asked for it again. */
export function useOnce(isAsked: boolean, act: () => void): void {
  const latest = useRef(act);
  useEffect(() => {
    latest.current = act;
  });
  useEffect(() => {
    if (isAsked) latest.current();
  }, [isAsked]);
}

/** The name of a file without the way to it: enough where both stand in one list. */
export const fileName = (path: string): string => path.split(/[/\\]/).at(-1) ?? path;
