// What happened, oldest first; the authority's answer is one click away as it was received.

import { ChevronDown, ChevronRight } from "lucide-react";
import { useState } from "react";

import type { EvidenceView } from "../bridge/generated/EvidenceView";
import type { EventCode } from "../bridge/generated/EventCode";
import type { TimelineView } from "../bridge/generated/TimelineView";
import { useCodeText, useFormat, useText } from "../i18n/text";
import type { Format, Text } from "../i18n/text";
import { Button, CopyButton, Switch } from "../kit/controls";
import { indented } from "./indented";
import css from "./timeline.module.css";
import { Hidden, useVeil } from "./veil";

/** Events that need a look, and those that end well; all others are quiet. */
const TONES: Partial<Record<EventCode, string>> = {
  completed: "done",
  accepted: "progress",
  failed: "attention",
  rejected: "attention",
  held: "caution",
  doubted: "doubt",
};

export function Timeline({ steps }: { steps: TimelineView[] }) {
  return (
    <ol className={css.timeline}>
      {steps.map((step, at) => (
        <Step key={at} step={step} />
      ))}
    </ol>
  );
}

function Step({ step }: { step: TimelineView }) {
  const text = useText();
  const format = useFormat();
  const words = useCodeText();
  const { isHidden, hide } = useVeil();
  const [open, setOpen] = useState(false);
  const more = detailOf(step, text, format);
  return (
    <li className={css.step}>
      <span aria-hidden className={`${css.dot} ${css[TONES[step.event] ?? "quiet"]}`} />
      <div className={css.words}>
        <p>
          <strong>{words("event", step.event)}</strong>
        </p>
        {more.map((line) => (
          <p key={line} className="selectable">
            {hide(line)}
          </p>
        ))}
        <p className={css.origin}>
          <time dateTime={step.at}>{format.exact(step.at)}</time>
          <span>{personOf(step.person)}</span>
        </p>
        {step.evidence && (
          <>
            <Button
              tone="quiet"
              icon={open ? ChevronDown : ChevronRight}
              aria-expanded={open}
              onPress={() => setOpen(!open)}
            >
              {text("timeline.evidence")}
            </Button>
            {open && (isHidden ? <Hidden /> : <Evidence evidence={step.evidence} />)}
          </>
        )}
      </div>
    </li>
  );
}

function Evidence({ evidence }: { evidence: EvidenceView }) {
  const text = useText();
  const [plain, setPlain] = useState(false);
  const { body } = evidence;
  const spread = indented(body);
  const head = [evidence.httpStatus && `HTTP ${evidence.httpStatus}`, evidence.contentType].filter(Boolean).join(" · ");
  return (
    <figure className={css.evidence}>
      <figcaption>
        <span>{head}</span>
        {spread !== body && (
          <Switch isSelected={plain} onChange={setPlain}>
            {text("timeline.plain")}
          </Switch>
        )}
        <CopyButton label={text("timeline.copy")} value={() => body} data-testid="copy-evidence" />
      </figcaption>
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- scrolls, so it must take the focus */}
      <pre tabIndex={0}>{plain ? body : spread}</pre>
      {evidence.truncated && <p>{text("timeline.truncated")}</p>}
    </figure>
  );
}

/** What the program did itself is its own; a person stands without the computer they sat at. */
function personOf(person: string): string {
  return PROGRAM.has(person) ? "Lab Courier" : person.replace(/@[^@]*$/, "");
}

const PROGRAM = new Set(["labcourier", "lab-courier"]);

/** Parameters of an event in words. */
function detailOf(step: TimelineView, text: Text, format: Format): string[] {
  const { reason, why, receipt, due } = step.params;
  const lines: string[] = [];
  if (why) lines.push(text.code(`problem.${why}`, step.params) ?? text("timeline.why", { why }));
  if (reason) lines.push(text("timeline.reason", { reason }));
  if (receipt) lines.push(text("timeline.receipt", { receipt }));
  if (due && NEXT.has(step.event)) lines.push(text("timeline.due", { time: format.exact(due) }));
  return lines;
}

/** Events after which something is owed at a known time. */
const NEXT = new Set([
  "deferred",
  "refused-on-the-way",
  "doubted",
  "asked-in-vain",
  "other-not-shown",
  "not-answered",
  "not-received",
  "still-in-progress",
  "overdue",
  "not-found",
  "turned-away",
]);
