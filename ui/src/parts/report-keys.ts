// The actions on a report that a single key starts: only those that the core offers for it.

import { useQueryClient } from "@tanstack/react-query";

import { door } from "#door";

import type { Caller } from "../bridge/door";
import { followJournal } from "../bridge/queries";
import { useText } from "../i18n/text";
import { useIntake } from "../intake";
import { sayIfItWaits } from "./correction";
import { say, sayProblem } from "../kit/toasts";

/** `correct` opens the correction; `show` the report that is sent in place of another. */
export function useReportKeys(correct: (id: number) => void, show: (id: number) => void) {
  const text = useText();
  const intake = useIntake();
  const cache = useQueryClient();
  const resubmit = async (here: Caller, id: number, hasDraft: boolean) => {
    if (hasDraft) {
      // It would be thrown away: the button asks first.
      say({ tone: "progress", title: text("resubmit.draft") });
      return;
    }
    const next = await here.call("resubmit", { id });
    followJournal(cache);
    intake.followed([next]);
    sayIfItWaits(next, text);
    show(next);
  };
  const refuse = () => say({ tone: "progress", title: text("reports.not-now") });
  // `otherwise`: what is done where the core does not offer it.
  return (action: "correct" | "resubmit", id: number | null, otherwise = refuse) => {
    if (id === null) return;
    // The number is that of this room: in another one it would be another report.
    const here = door.here();
    void here
      .call("detail", { id })
      .then(({ row }) => {
        if (!row.actions.includes(action)) otherwise();
        else if (action === "correct") correct(id);
        else return resubmit(here, id, row.draft);
        return undefined;
      })
      .catch(sayProblem(text));
  };
}
