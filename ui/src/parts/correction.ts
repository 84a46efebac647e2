import { door } from "#door";

import type { IntakeView } from "../bridge/generated/IntakeView";
import type { Text, TextId } from "../i18n/text";
import { say } from "../kit/toasts";

/** Says what became of a correction and shows the submission that took the report's place. */
export function afterCorrection(view: IntakeView, text: Text, show: (id: number) => void): void {
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
  if (verdict === "errors") say({ tone: "attention", title: text("correction.held") });
  else sayOnItsWay(next, text, "correction.sent");
  show(next);
}

/** Says of a report that was just taken in that it is on its way, unless it waits for the authority's word before. */
export function sayOnItsWay(id: number, text: Text, sent: TextId): void {
  const told = (goesByItself: boolean) =>
    say(goesByItself ? { tone: "attention", title: text("done.waits") } : { tone: "done", title: text(sent) });
  // Where nothing can be said of it now, it was taken in all the same.
  door.call("detail", { id }).then(
    (view) => told(view.goesByItself),
    () => told(false),
  );
}

/** Says of a report whose seconds of undo have begun that it waits for the authority's word before it is sent. */
export function sayIfItWaits(id: number, text: Text): void {
  const told = (goesByItself: boolean) => goesByItself && say({ tone: "attention", title: text("done.waits") });
  door.call("detail", { id }).then(
    (view) => told(view.goesByItself),
    () => undefined,
  );
}
