// A file before it is sent: what it is, for whom, and what was found in it.

import {
  ChevronDown,
  ChevronRight,
  CircleAlert,
  CircleCheck,
  CircleHelp,
  CircleSlash,
  Copy,
  PencilLine,
  TriangleAlert,
  X,
} from "lucide-react";
import type { LucideIcon } from "lucide-react";
import { useState } from "react";
import type { ReactNode } from "react";

import type { CandidateView } from "../bridge/generated/CandidateView";
import type { CorrectsView } from "../bridge/generated/CorrectsView";
import type { Verdict } from "../bridge/generated/Verdict";
import { useCodeText, useFormat, useText } from "../i18n/text";
import type { TextId } from "../i18n/text";
import { isUnreadable } from "../intake";
import { fileName, useWindow } from "../place";
import css from "./candidate.module.css";
import { Button, Switch } from "../kit/controls";
import { Difference } from "./difference";
import { Message } from "./message";
import { countOf, namedElement } from "./said";
import stateCss from "./state.module.css";
import type { Tone } from "../kit/notes";
import { Subject } from "./subject";

const VERDICTS: Record<Verdict, { icon: LucideIcon; tone: Tone }> = {
  ready: { icon: CircleCheck, tone: "done" },
  warnings: { icon: TriangleAlert, tone: "caution" },
  errors: { icon: CircleAlert, tone: "attention" },
  known: { icon: Copy, tone: "quiet" },
  refused: { icon: CircleSlash, tone: "attention" },
};

export function CandidateRow(props: {
  view: CandidateView;
  again?: boolean;
  onAgain?: ((on: boolean) => void) | undefined;
  onLeaveOut?: (() => void) | undefined;
  /** Each file is a report of its own, also one that could correct another. */
  separate?: boolean;
  /** All that is found in it is said once for many files: it looks like one without findings. */
  isPlain?: boolean;
  /** A file of this content stands above it: it goes once. */
  isTwin?: boolean;
  /** It goes beside the report with its identifier. Asked where `onBeside` is there. */
  beside?: boolean;
  onBeside?: ((on: boolean) => void) | undefined;
  /** The file of another report on the list that has its identifier. */
  rival?: string | undefined;
  /** What becomes of it where it is a certificate. */
  certificate?: ReactNode;
}) {
  const { view, again, onAgain, onLeaveOut, separate, isPlain, isTwin, beside, onBeside, rival, certificate } = props;
  const text = useText();
  const format = useFormat();
  const words = useCodeText();
  const { go } = useWindow();
  const [open, setOpen] = useState(view.verdict === "errors" || view.verdict === "refused");
  const isOpenQuestion = onBeside !== undefined && !beside;
  const verdict = isPlain ? "ready" : view.verdict;
  const { icon: Icon, tone } = isOpenQuestion
    ? { icon: CircleHelp, tone: "caution" as const }
    : VERDICTS[isTwin ? "known" : verdict];
  const said = () => {
    if (isTwin) return text("send.twice");
    if (isOpenQuestion) return text("send.asked");
    return words("verdict", isUnreadable(view) && !isPlain ? "unreadable" : verdict);
  };
  const { known } = view;
  return (
    <li className={css.candidate} data-testid="candidate-row" data-verdict={view.verdict}>
      <div className={css.line}>
        <Icon aria-hidden size={19} className={`${css.icon} ${stateCss[tone]}`} />
        <div className={css.who}>
          <Subject about={view} otherwise={words("kind", view.kind)} />
          <span className={css.more}>
            {view.patient && <span>{view.patient}</span>}
            <span className={css.file} title={view.file}>
              {view.file}
            </span>
          </span>
        </div>
        <span className={`${css.verdict} ${stateCss[tone]}`}>{said()}</span>
        {certificate}
        {view.messages.length > 0 ? (
          <Button
            tone="quiet"
            icon={open ? ChevronDown : ChevronRight}
            aria-expanded={open}
            onPress={() => setOpen(!open)}
          >
            {countOf(text, view.messages)}
          </Button>
        ) : null}
        {onLeaveOut && (
          <Button tone="quiet" icon={X} label={text("send.leave-out", { file: view.file })} onPress={onLeaveOut} />
        )}
      </div>
      {known !== null && (
        <div className={css.known}>
          <span>
            {view.knownState && view.knownUpdated
              ? text("send.known.state", {
                  time: format.moment(view.knownUpdated),
                  state: words("state", view.knownState),
                })
              : text("send.known")}
          </span>
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
      {view.corrects && (
        <Corrects corrects={view.corrects} separate={separate ?? false}>
          {onBeside && !rival && <Decision word="send.same.send" isOn={beside ?? false} onChange={onBeside} />}
        </Corrects>
      )}
      {rival !== undefined && onBeside && (
        <div className={css.corrects} data-testid="rival">
          <strong>{text("send.rival", { file: fileName(rival) })}</strong>
          <Decision word="send.rival.send" isOn={beside ?? false} onChange={onBeside} />
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

/** What waits for somebody's decision, and says so until it is made. */
function Decision({ word, isOn, onChange }: { word: TextId; isOn: boolean; onChange: (on: boolean) => void }) {
  const text = useText();
  return (
    <>
      {!isOn && <p>{text("send.same.more")}</p>}
      <Switch isSelected={isOn} onChange={onChange}>
        {text(word)}
      </Switch>
    </>
  );
}

/** Which report this file corrects, and what differs. */
function Corrects({
  corrects,
  separate,
  children,
}: {
  corrects: CorrectsView;
  separate: boolean;
  children?: ReactNode;
}) {
  const text = useText();
  const format = useFormat();
  const words = useCodeText();
  const { go } = useWindow();
  const { id, possible } = corrects;
  const values = { state: words("state", corrects.state), time: format.moment(corrects.updated) };
  const named = (line: string | null) => line && namedElement(text, line);
  const changes = corrects.changes.map((change) => ({
    ...change,
    removed: named(change.removed),
    added: named(change.added),
  }));
  return (
    <div className={css.corrects} data-testid="corrects">
      <span className={css.line}>
        <strong>{text(!possible ? "send.same" : separate ? "send.separate" : "send.corrects", values)}</strong>
        <Button tone="quiet" onPress={() => go({ screen: "reports", group: null, open: id })}>
          {text("send.known.show")}
        </Button>
      </span>
      <Difference changes={changes} changed={corrects.changed} max={2} />
      {possible && !separate && corrects.draft && (
        <p className={css.draft} data-testid="corrects-draft">
          <PencilLine aria-hidden size={15} />
          <span>{text("drafts.corrects.lost")}</span>
        </p>
      )}
      {children}
    </div>
  );
}
