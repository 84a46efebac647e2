// What a report on hold has behind it: whether it was ever tried, and whether the authority may have it.

import type { DetailView } from "../bridge/generated/DetailView";

/** Messages which say that the authority may have the report, or the one that it corrects. */
const MAY_BE_THERE = new Set(["authority-may-have-it", "corrected-report-delivered", "corrected-report-not-asked"]);

export type Held = "unsent" | "repeat" | "twice";

/** Sent with one press it may be the first time, another try, or a second report of the same. */
export function heldAs({ attempts, messages }: Pick<DetailView, "attempts" | "messages">): Held {
  if (messages.some(({ code }) => MAY_BE_THERE.has(code))) return "twice";
  return attempts > 0 ? "repeat" : "unsent";
}
