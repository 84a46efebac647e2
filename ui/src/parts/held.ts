// What a report on hold has behind it: whether it was ever tried, and whether the authority may have it.

import type { DetailView } from "../bridge/generated/DetailView";
import type { MessageView } from "../bridge/generated/MessageView";

/** Messages which say that the authority may have the report, or the one that it corrects. */
const MAY_BE_THERE = new Set([
  "accepted-before-restore",
  "authority-may-have-it",
  "corrected-report-delivered",
  "corrected-report-not-asked",
  "later-version",
  "newer-version-delivered",
  "older-version",
  "other-version-delivered",
  "other-version-lost",
  "other-version-not-asked",
  "same-report-delivered",
  "same-report-not-asked",
]);

export const mayBeThere = (message: MessageView | null): boolean => message !== null && MAY_BE_THERE.has(message.code);

export type Held = "compared" | "unsent" | "repeat" | "twice" | "failed";

/**
 * Sent with one press it may be the first time, another try, or a second report of the same; or it waits for nobody's
 * press, but for the authority's word that it does not have it.
 */
export function heldAs({
  attempts,
  messages,
  goesByItself,
  timeline,
}: Pick<DetailView, "attempts" | "messages" | "goesByItself" | "timeline">): Held {
  if (goesByItself) return "compared";
  if (messages.some(({ code }) => MAY_BE_THERE.has(code))) return "twice";
  // What was to take its place was taken back: the authority's answer to it stands.
  if (timeline.some(({ event }) => event === "failed")) return "failed";
  return attempts > 0 ? "repeat" : "unsent";
}
