// From practice to the first real report: what is done and what comes next, on Send until all of it is done. Each step
// opens the very place.

import { ArrowRight, Check, X } from "lucide-react";

import type { StatusView } from "../bridge/generated/StatusView";
import { useSavePreferences } from "../bridge/preferences";
import { useCertificates, useEndpoints, usePreferences, useStatus } from "../bridge/queries";
import { useText } from "../i18n/text";
import { HOME, useWindow } from "../place";
import type { Place } from "../place";
import css from "./checklist.module.css";
import { Button } from "../kit/controls";

const STEPS = ["practice", "certificate", "authority", "connection", "report"] as const;
type Step = (typeof STEPS)[number];

const PLACES: Record<Step, Place> = {
  practice: HOME.send,
  certificate: HOME.certificate,
  authority: { screen: "settings", adds: true },
  connection: HOME.settings,
  report: HOME.send,
};

/** Which of them are done, and which comes next; nothing once all are. */
function useSteps(status: StatusView | undefined) {
  const certificates = useCertificates().data;
  const endpoints = useEndpoints().data;
  if (!status || !certificates || !endpoints) return undefined;
  const real = status.environment !== "practice";
  const { completed, byState } = status.counts;
  // What only waits on this computer has not been sent.
  const isSent = completed + (byState["in-progress"] ?? 0) > 0;
  const done: Record<Step, boolean> = {
    practice: real || completed > 0,
    certificate: certificates.length > 0,
    authority: endpoints.some(({ environment }) => environment !== "practice"),
    connection: real && (status.connection === "connected" || status.tested !== null),
    report: real && isSent,
  };
  const next = STEPS.find((step) => !done[step]);
  return next && { done, next };
}

/** Shows the list again that was put away, as long as something of it is left to do. */
export function useChecklistAgain(): (() => void) | undefined {
  const { go } = useWindow();
  const save = useSavePreferences();
  const steps = useSteps(useStatus().data);
  const hidden = usePreferences().data?.checklistHidden ?? false;
  if (!hidden || !steps) return undefined;
  return () => {
    save({ checklistHidden: false });
    go(HOME.send);
  };
}

export function Checklist({ status, samples }: { status: StatusView; samples: () => void }) {
  const text = useText();
  const { go } = useWindow();
  const save = useSavePreferences();
  const hidden = usePreferences().data?.checklistHidden ?? true;
  const steps = useSteps(status);
  if (hidden || !steps) return null;
  const { done, next } = steps;
  const press = (step: Step) => (step === "practice" ? samples() : go(PLACES[step]));
  return (
    <section className={css.checklist} aria-labelledby="checklist" data-testid="checklist">
      <header className={css.header}>
        <h2 id="checklist">{text("checklist.title")}</h2>
        <Button
          tone="quiet"
          icon={X}
          label={text("checklist.hide")}
          onPress={() => save({ checklistHidden: true })}
          data-testid="checklist-hide"
        />
      </header>
      <ol className={css.steps}>
        {STEPS.map((step, at) => (
          <li key={step} className={css.step} data-done={done[step]} data-next={step === next}>
            <span className={css.mark} aria-hidden>
              {done[step] ? <Check size={14} strokeWidth={2.6} /> : at + 1}
            </span>
            {done[step] ? (
              <span>
                {text(`checklist.${step}`)} <span className="visually-hidden">{text("checklist.done")}</span>
              </span>
            ) : (
              <button type="button" onClick={() => press(step)} data-testid={`checklist-${step}`}>
                {text(`checklist.${step}`)}
                {step === next && <ArrowRight aria-hidden size={14} />}
              </button>
            )}
          </li>
        ))}
      </ol>
      <p className={css.more}>{text(`checklist.${next}.more`)}</p>
    </section>
  );
}
