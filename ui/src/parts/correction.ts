import { door } from "#door";

import type { IntakeView } from "../bridge/generated/IntakeView";
import type { Text } from "../i18n/text";
import { say } from "../kit/toasts";

/** Shows the submission that took the report's place, and says of a correction what the bar that follows it does not. */
export function afterCorrection(view: IntakeView, text: Text, show: (id: number, isKept: boolean) => void): void {
  const next = view.submissions.find((id) => id !== null) ?? null;
  const verdict = view.files[0]?.verdict;
  if (next === null) {
    say({
      tone: "attention",
      title: text(verdict === "known" ? "correction.known" : "correction.refused"),
      more: text("correction.unchanged"),
    });
    return;
  }
  const isKept = verdict === "errors";
  if (isKept) say({ tone: "attention", title: text("correction.held") });
  else sayIfItWaits(next, text);
  show(next, isKept);
}

/** Says of a report whose seconds of undo have begun that it waits for the authority's word before it is sent. */
export function sayIfItWaits(id: number, text: Text): void {
  const told = (goesByItself: boolean) => goesByItself && say({ tone: "attention", title: text("done.waits") });
  door.call("detail", { id }).then(
    (view) => told(view.goesByItself),
    () => undefined,
  );
}
