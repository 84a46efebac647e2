import type { IntakeView } from "../bridge/generated/IntakeView";
import type { Text } from "../i18n/text";
import { say } from "./toasts";

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
  say(
    verdict === "errors"
      ? { tone: "attention", title: text("correction.held") }
      : { tone: "done", title: text("correction.sent") },
  );
  show(next);
}
