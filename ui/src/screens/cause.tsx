// One cause: its sentence, how often and since when, which values it is about, what one decision does, and its reports.

import { Ban, History, Play, RotateCw, Wrench, XCircle } from "lucide-react";
import { useState } from "react";

import { COUNTED_MAX, useCauseFields, useUnfinishedFixes } from "../bridge/queries";
import { daysOf, isCalm, isTakenBack, offered } from "../causes";
import type { Cause } from "../causes";
import type { UnfinishedFix } from "../bridge/generated/UnfinishedFix";
import { useCodeText, useFormat, useText } from "../i18n/text";
import { useDecision } from "../parts/decided";
import { Button } from "../kit/controls";
import { Destination, useDestinations } from "../parts/destination";
import { DraftMark, LosingReason, OneFirst, SendAgain } from "../parts/drafts";
import type { Deciding, SendsAgain } from "../parts/drafts";
import { useMany } from "../parts/many";
import { OnHold } from "../parts/on-hold";
import { useOwnWords } from "../parts/own-words";
import { Notice, ReadProblem } from "../kit/notes";
import { PASSING, headingOf, helpOf, leadingWords, shownSentence, unsaidOf } from "../parts/said";
import { Sparkline } from "../parts/sparkline";
import { StateLabel, StateMark } from "../parts/state";
import { Subject } from "../parts/subject";
import { sayProblem } from "../kit/toasts";
import { namesSomebody } from "../parts/veil";
import { useWindow } from "../place";
import css from "./correct.module.css";

/** Reports of a cause that are shown at first, and how many more at a time. */
const FEW = 25;
const MORE = 100;
/** Values in question that are told apart. */
const VALUES_MAX = 4;

export function CausePage(props: {
  cause: Cause;
  /** All of its reports are known: until then one decision would leave some out. */
  isWhole: boolean;
  /** There are reports that are not ordered by cause yet: it may be the cause of some. */
  isCut: boolean;
  /** When the last of them was corrected, before it came again. */
  corrected: string | undefined;
  /** Where the causes stand above it, its own is the one right above. */
  isBelow?: boolean;
  /** The report of it that was open last. */
  last: number | null;
  onShow: (id: number) => void;
  onFix: (ids: number[], left?: UnfinishedFix) => void;
}) {
  const { cause, isWhole, isCut, corrected, isBelow = false, last, onShow, onFix } = props;
  const text = useText();
  const format = useFormat();
  const words = useCodeText();
  const { message, rows } = cause;
  const { reveal } = useWindow();
  const own = useOwnWords(cause);
  const title = message ? headingOf(text, message, !reveal, own) : unsaidOf(text, words, cause);
  const help = message && helpOf(text, message);
  const days = daysOf(cause, new Date());
  const isStopped = !message && cause.state === "held";
  return (
    <section className={css.page} aria-label={title} data-testid="cause-page">
      <div className={css.words}>
        <h2 className={`selectable ${isBelow ? css.said : ""}`}>{title}</h2>
        <Below cause={cause} own={own} />
        {help && (
          <p className="selectable" data-testid="cause-help">
            {help}
          </p>
        )}
        <OnHold rows={rows} />
        <p className={css.origin}>
          <StateLabel state={cause.state} size={14} />
          {message?.rule && (
            <code className="selectable" title={message.rule}>
              {text("message.code", { code: message.rule })}
            </code>
          )}
          {cause.laboratories.length > 0 && <span>{cause.laboratories.join(", ")}</span>}
        </p>
      </div>
      {corrected && (
        <Notice tone="caution" icon={History} title={text("cause.regressed")}>
          <span data-testid="cause-regressed">
            {text("cause.regressed.more", { time: format.at(corrected), n: rows.length })}
          </span>
        </Notice>
      )}
      <BrokenOff rows={rows} isWhole={isWhole} onFix={onFix} />
      <div className={css.figures}>
        <p>
          <strong className={css.count} data-calm={isCalm(cause) ? "" : undefined}>
            {isCut ? text("cause.least", { n: format.number(rows.length) }) : format.number(rows.length)}
          </strong>
          {/* Nothing was found in what was only stopped. */}
          <span>{text(isStopped ? "cause.reports.held" : "cause.reports", { n: rows.length })}</span>
        </p>
        <p>
          <span>{text("correct-list.last", { time: format.moment(cause.last) })}</span>
          {rows.length > 1 && <span>{text("correct-list.first", { time: format.moment(cause.first) })}</span>}
        </p>
        <p className={css.trend}>
          <Sparkline counts={days} height={32} />
          <span>{text("cause.days", { n: days.reduce((sum, one) => sum + one, 0), days: days.length })}</span>
        </p>
      </div>
      <Values cause={cause} />
      <div className={css.actions}>
        <CauseActions cause={cause} isWhole={isWhole} onFix={onFix} />
      </div>
      <CauseRows cause={cause} open={null} last={last} onShow={onShow} />
    </section>
  );
}

/** A change of many that was broken off: it is taken up where it was left. */
function BrokenOff(props: {
  rows: Cause["rows"];
  isWhole: boolean;
  onFix: (ids: number[], left: UnfinishedFix) => void;
}) {
  const text = useText();
  const { reveal } = useWindow();
  const fixes = useUnfinishedFixes().data ?? [];
  const here = new Set(props.rows.map(({ id }) => id));
  const left = fixes.findLast(({ rest }) => rest.some((id) => here.has(id)));
  if (!left) return null;
  const { path, find, replace, sent } = left;
  const rest = left.rest.filter((id) => here.has(id));
  const isHidden = !reveal && namesSomebody(path);
  return (
    <Notice
      tone="caution"
      icon={Wrench}
      title={text("fix.broken-off")}
      actions={
        <Button
          tone="primary"
          icon={Wrench}
          isDisabled={!props.isWhole}
          onPress={() => props.onFix(rest, left)}
          data-testid="fix-take-up"
        >
          {text("fix.take-up", { n: rest.length })}
        </Button>
      }
      data-testid="fix-broken-off"
    >
      {!isHidden && `${text("fix.broken-off.what", { find, replace })} `}
      {text("fix.broken-off.more", { sent, n: rest.length })}
    </Notice>
  );
}

/** What does not lead: the words of the authority or of the rule, or our sentence where those are the title. */
function Below({ cause, own }: { cause: Cause; own: string | null }) {
  const text = useText();
  const { reveal } = useWindow();
  const { message } = cause;
  if (!message || own === null) return null;
  if (leadingWords(text, message)) return <p className="selectable">{shownSentence(text, message, !reveal)}</p>;
  return (
    <p className={`${css.own} selectable`} lang="">
      {own}
    </p>
  );
}

/** "1227 × 31": the values that the message is about, the most frequent first. */
function Values({ cause }: { cause: Cause }) {
  const text = useText();
  const format = useFormat();
  const words = useCodeText();
  const { reveal } = useWindow();
  const read = useCauseFields(cause.rows.map(({ id }) => id));
  if (!read.data) return <ReadProblem of={read} />;
  const [field] = read.data;
  // Who is meant is no cause.
  if (!field || field.values.length === 0 || (!reveal && namesSomebody(field.path))) return null;
  const { values } = field;
  const rest = values.slice(VALUES_MAX).reduce((sum, { count }) => sum + count, 0);
  return (
    <div className={css.values} data-testid="cause-values">
      <h3>{words("path", field.path)}:</h3>
      <ul>
        {values.slice(0, VALUES_MAX).map(({ value, count }) => (
          <li key={value}>
            <code className="selectable">{value}</code>
            <span>× {format.number(count)}</span>
          </li>
        ))}
        {rest > 0 && <li>{text("cause.values.rest", { n: rest })}</li>}
        {cause.rows.length > COUNTED_MAX && <li>{text("cause.values.among", { n: COUNTED_MAX })}</li>}
      </ul>
    </div>
  );
}

/** The reports of a cause; the one that is open is always among those shown. */
export function CauseRows({
  cause,
  open,
  last,
  onShow,
}: {
  cause: Cause;
  open: number | null;
  last?: number | null;
  onShow: (id: number) => void;
}) {
  const text = useText();
  const format = useFormat();
  const destination = useDestinations();
  const [asked, setShown] = useState(FEW);
  const { rows } = cause;
  const shown = Math.max(asked, rows.findIndex((row) => row.id === (open ?? last)) + 1);
  return (
    <ul className={css.rows} aria-label={text("correct-list.show", { n: rows.length })}>
      {rows.slice(0, shown).map((row) => (
        <li key={row.id}>
          <button
            type="button"
            className={css.row}
            aria-pressed={row.id === open}
            onClick={() => onShow(row.id)}
            data-takes-focus={row.id === last ? "" : undefined}
            data-testid="report-row"
            data-state={row.state}
          >
            <StateMark state={row.state} size={16} />
            <span className={css.what}>
              <Subject about={row} otherwise={row.file} />
              <Destination of={destination(row)} />
              <span>{row.patient ?? text("reports.no-patient")}</span>
              {row.errors > 1 && <span>{text("correct-list.also", { n: row.errors - 1 })}</span>}
              {isTakenBack(row) && <span>{text("on-hold.back.row")}</span>}
              {row.draft && <DraftMark isSpelledOut />}
            </span>
            <span className={css.when}>{format.moment(row.updated)}</span>
          </button>
        </li>
      ))}
      {rows.length > shown && (
        <li className={css.rest}>
          <Button tone="quiet" onPress={() => setShown(shown + MORE)}>
            {text("correct-list.rest", { n: rows.length - shown })}
          </Button>
        </li>
      )}
    </ul>
  );
}

/** One decision for all reports of a cause. */
function CauseActions({ cause, isWhole, onFix }: { cause: Cause; isWhole: boolean; onFix: (ids: number[]) => void }) {
  const text = useText();
  // What is asked about is what was shown then: a report that gets the same cause meanwhile is none of it.
  const [asking, setAsking] = useState<{
    what: "resubmit" | "after-all" | "release" | "withdraw" | "not-reportable";
    ids: number[];
  }>();
  const { busy, each, stop } = useMany(() => setAsking(undefined));
  const { again, back, release, never } = offered(cause);
  const cancel = () => {
    stop();
    setAsking(undefined);
  };
  const decide = useDecision(() => setAsking(undefined));
  const isSending = decide.isPending;
  const resubmit = (ids: number[]) =>
    decide.mutate({ ids, decision: "resubmit", reason: "" }, { onError: sayProblem(text) });
  const afterAll = (ids: number[]) =>
    decide.mutate({ ids, decision: "release", reason: text("send-after-all.reason") }, { onError: sayProblem(text) });
  const drafts = (ids: number[]) => {
    const begun = new Set(cause.rows.filter((row) => row.draft).map(({ id }) => id));
    return ids.filter((id) => begun.has(id));
  };
  const about: Deciding = { ids: asking?.ids ?? [], drafts: drafts(asking?.ids ?? []) };
  const withdraw = (ids: number[], reason: string) => each(ids, (here, id) => here.call("withdraw", { id, reason }));
  // What the authority may have solved meanwhile can go again as it is; for all else that is useless.
  const passing = cause.message?.source === "authority" && PASSING.has(cause.message.code);
  return (
    <>
      {never.length > 0 && !passing && cause.message && (
        <Button
          tone={never.length > 1 ? "primary" : "plain"}
          icon={Wrench}
          isDisabled={!isWhole}
          isPending={busy}
          onPress={() => onFix(never)}
          data-testid="fix-once"
        >
          {text("fix.open")}
        </Button>
      )}
      {back.length > 0 && (
        <Button
          tone={cause.message ? "plain" : "primary"}
          icon={Play}
          isDisabled={!isWhole}
          isPending={busy || isSending}
          onPress={() =>
            (back.length === 1 || isCalm(cause)) && drafts(back).length === 0
              ? afterAll(back)
              : setAsking({ what: "after-all", ids: back })
          }
          data-testid="send-after-all"
        >
          {text("action.send-after-all", { n: back.length })}
        </Button>
      )}
      {release.length > 0 && (
        <Button
          tone={cause.message ? "quiet" : "primary"}
          icon={Play}
          isDisabled={!isWhole}
          isPending={busy || isSending}
          onPress={() => setAsking({ what: "release", ids: release })}
          data-testid="cause-release"
        >
          {text(cause.message ? "bulk.release" : "action.send-after-all", { n: release.length })}
        </Button>
      )}
      {again.length > 0 && (
        <Button
          tone={passing ? "primary" : "quiet"}
          icon={RotateCw}
          isDisabled={!isWhole}
          isPending={busy || isSending}
          onPress={() =>
            again.length === 1 && drafts(again).length === 0
              ? resubmit(again)
              : setAsking({ what: "resubmit", ids: again })
          }
        >
          {text("correct-list.resubmit", { n: again.length })}
        </Button>
      )}
      {never.length > 0 && (
        <Button
          tone="quiet"
          icon={XCircle}
          isDisabled={!isWhole}
          isPending={busy}
          onPress={() => setAsking({ what: "withdraw", ids: never })}
          data-testid="cause-withdraw"
        >
          {text("correct-list.withdraw", { n: never.length })}
        </Button>
      )}
      {never.length > 0 && (
        <Button
          tone="quiet"
          icon={Ban}
          isDisabled={!isWhole}
          isPending={busy}
          onPress={() => setAsking({ what: "not-reportable", ids: never })}
          data-testid="cause-not-reportable"
        >
          {text("bulk.not-reportable", { n: never.length })}
        </Button>
      )}
      {(asking?.what === "resubmit" || asking?.what === "after-all") && (
        <Again
          about={about}
          isAfterAll={asking.what === "after-all"}
          isPending={isSending}
          onSend={asking.what === "after-all" ? afterAll : resubmit}
          onClose={cancel}
        />
      )}
      {asking?.what === "release" && (
        <LosingReason
          about={about}
          title={(n) => text(cause.message ? "bulk.release.title" : "cause.release.title", { n })}
          explanation={(n) => text(cause.message ? "bulk.release.more" : "cause.release.more", { n })}
          confirm={(n) => text(cause.message ? "bulk.release" : "action.send-after-all", { n })}
          isPending={isSending}
          onConfirm={(ids, reason) =>
            decide.mutate({ ids, decision: "release", reason }, { onError: sayProblem(text) })
          }
          onClose={cancel}
        />
      )}
      {asking?.what === "withdraw" && (
        <LosingReason
          about={about}
          title={(n) => text("correct-list.withdraw.title", { n })}
          explanation={(n) => text("bulk.withdraw.more", { n })}
          confirm={(n) => text("correct-list.withdraw", { n })}
          isPending={busy}
          onConfirm={(ids, reason) => withdraw(ids, reason)}
          onClose={cancel}
        />
      )}
      {asking?.what === "not-reportable" && (
        <LosingReason
          about={about}
          title={(n) => text("bulk.not-reportable.title", { n })}
          explanation={(n) => text("bulk.not-reportable.more", { n })}
          confirm={(n) => text("bulk.not-reportable", { n })}
          isPending={isSending}
          // Whoever asks later finds all of them by this word, wherever they were set so.
          onConfirm={(ids, reason) =>
            decide.mutate(
              { ids, decision: "not-reportable", reason: text("bulk.not-reportable.reason", { reason }) },
              { onError: sayProblem(text) },
            )
          }
          onClose={cancel}
        />
      )}
    </>
  );
}

/** One report is asked about because of its draft; several are better sent one first. */
function Again(props: SendsAgain) {
  return props.about.ids.length === 1 ? <SendAgain {...props} /> : <OneFirst {...props} />;
}
