// A file before it is sent: what it is, for whom, and what was found in it.

import { ChevronDown, ChevronRight, CircleAlert, CircleCheck, CircleSlash, Copy, TriangleAlert, X } from "lucide-react";
import type { LucideIcon } from "lucide-react";
import { useState } from "react";

import type { CandidateView } from "../bridge/generated/CandidateView";
import { useCodeText, useText } from "../i18n/text";
import { useWindow } from "../place";
import css from "./candidate.module.css";
import { Button, Switch } from "./controls";
import { Message } from "./message";
import stateCss from "./state.module.css";
import type { Tone } from "./state";

const VERDICTS: Record<string, { icon: LucideIcon; tone: Tone }> = {
  ready: { icon: CircleCheck, tone: "done" },
  warnings: { icon: TriangleAlert, tone: "caution" },
  errors: { icon: CircleAlert, tone: "attention" },
  known: { icon: Copy, tone: "quiet" },
  refused: { icon: CircleSlash, tone: "attention" },
};

export function CandidateRow(props: {
  view: CandidateView;
  again?: boolean;
  onAgain?: (on: boolean) => void;
  onLeaveOut?: () => void;
}) {
  const { view, again, onAgain, onLeaveOut } = props;
  const text = useText();
  const words = useCodeText();
  const { go } = useWindow();
  const [open, setOpen] = useState(view.verdict === "errors" || view.verdict === "refused");
  const { icon: Icon, tone } = VERDICTS[view.verdict] ?? { icon: CircleSlash, tone: "quiet" as Tone };
  const { known } = view;
  return (
    <li className={css.candidate} data-testid="candidate-row" data-verdict={view.verdict}>
      <div className={css.line}>
        <Icon aria-hidden size={19} className={`${css.icon} ${stateCss[tone]}`} />
        <div className={css.who}>
          <strong>{view.subject ?? words("kind", view.kind)}</strong>
          <span className={css.more}>
            {view.patient && <span>{view.patient}</span>}
            <span className={css.file} title={view.file}>
              {view.file}
            </span>
          </span>
        </div>
        <span className={`${css.verdict} ${stateCss[tone]}`}>{words("verdict", view.verdict)}</span>
        {view.messages.length > 0 ? (
          <Button
            tone="quiet"
            icon={open ? ChevronDown : ChevronRight}
            aria-expanded={open}
            onPress={() => setOpen(!open)}
          >
            {text("send.findings", { n: view.messages.length })}
          </Button>
        ) : null}
        {onLeaveOut && (
          <Button tone="quiet" icon={X} label={text("send.leave-out", { file: view.file })} onPress={onLeaveOut} />
        )}
      </div>
      {known !== null && (
        <div className={css.known}>
          <span>{text("send.known")}</span>
          <Button tone="quiet" onPress={() => go({ screen: "reports", group: null, open: known })}>
            {text("send.known.show")}
          </Button>
          {onAgain && (
            <Switch isSelected={again ?? false} onChange={onAgain}>
              {text("send.again")}
            </Switch>
          )}
        </div>
      )}
      {open && view.messages.length > 0 && (
        <ul className={css.messages}>
          {view.messages.map((message, at) => (
            <Message key={at} message={message} compact />
          ))}
        </ul>
      )}
    </li>
  );
}
