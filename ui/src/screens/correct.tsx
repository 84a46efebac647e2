// To correct: what needs a person, by cause, so that one decision serves many reports.

import { ChevronDown, ChevronRight, PartyPopper, RotateCw, Wrench, XCircle } from "lucide-react";
import { useEffect, useState } from "react";

import { ALL, useCommand, useList, useStatus } from "../bridge/queries";
import { causesOf, offered } from "../causes";
import type { Cause } from "../causes";
import { useCodeText, useFormat, useText } from "../i18n/text";
import { useIntake } from "../intake";
import { refusedOf } from "../parts/bulk-bar";
import { Button } from "../parts/controls";
import { CorrectDialog } from "../parts/correct-dialog";
import { Destination, useDestinations } from "../parts/destination";
import { Dialog, ReasonDialog } from "../parts/dialog";
import { FixDialog } from "../parts/fix-dialog";
import { useKeys } from "../parts/keys";
import { useMany } from "../parts/many";
import { Empty, ProblemNote, problemText } from "../parts/notes";
import { useReportKeys } from "../parts/report-keys";
import { sentenceOf } from "../parts/said";
import screen from "../parts/screen.module.css";
import { StateLabel, StateMark } from "../parts/state";
import { Subject } from "../parts/subject";
import { say, sayProblem } from "../parts/toasts";
import { useWindow } from "../place";
import css from "./correct.module.css";
import { Detail } from "./detail";

/** Reports of a cause that are shown at first, and how many more at a time. */
const FEW = 5;
const MORE = 50;
/** Rows grouped at most. */
const ROWS_MAX = 5000;

export function Correct({ open }: { open: number | null }) {
  const text = useText();
  const format = useFormat();
  const { go, reveal } = useWindow();
  const status = useStatus().data;
  const last = status?.lastContact;
  const list = useList({ ...ALL, group: "needs-attention" }, reveal);
  const rows = list.data?.pages.flatMap((page) => page.rows) ?? [];
  const causes = causesOf(rows);
  const { hasNextPage, isFetching, fetchNextPage } = list;
  useEffect(() => {
    // A cause is only counted right when all its reports are known.
    if (hasNextPage && !isFetching && rows.length < ROWS_MAX) void fetchNextPage();
  }, [hasNextPage, isFetching, fetchNextPage, rows.length]);
  const show = (id: number | null) => go({ screen: "correct", open: id });
  const [correcting, setCorrecting] = useState<number>();
  // Kept here: a cause is gone from the list once its last report is corrected, and the dialog must not go with it.
  const [fixing, setFixing] = useState<number[]>();
  /** The next report of the same cause slides in; how many are left is said. */
  const follow = (done: number) => {
    const cause = causes.find((one) => one.rows.some((row) => row.id === done));
    const left = cause?.rows.filter((row) => row.id !== done) ?? [];
    const at = cause?.rows.findIndex((row) => row.id === done) ?? 0;
    say({ tone: "done", title: text("correct.next", { n: left.length }) });
    show((left[at] ?? left[0])?.id ?? null);
  };
  const act = useReportKeys(setCorrecting, show);
  const ordered = causes.flatMap((cause) => cause.rows);
  const move = (by: number) => {
    const at = ordered.findIndex((row) => row.id === open);
    const next = ordered[at < 0 ? 0 : Math.min(ordered.length - 1, Math.max(0, at + by))];
    if (next) show(next.id);
  };
  useKeys({
    j: () => move(1),
    k: () => move(-1),
    ArrowDown: () => move(1),
    ArrowUp: () => move(-1),
    e: () => open !== null && setCorrecting(open),
    r: () => act("resubmit", open),
    Enter: () => (open === null ? move(0) : setCorrecting(open)),
    Escape: () => open !== null && show(null),
  });
  return (
    <div className={`${css.split} ${open === null ? "" : css.opened}`}>
      <section className={css.side}>
        <header className={screen.header}>
          <div>
            <h1>{text("nav.correct")}</h1>
            {rows.length > 0 && (
              <p className={screen.lead}>
                {text("correct-list.sum", { n: list.data?.pages[0]?.total ?? rows.length, causes: causes.length })}
              </p>
            )}
          </div>
        </header>
        <div className={screen.body}>
          {list.error && <ProblemNote problem={list.error} />}
          {!list.isPending && !list.error && rows.length === 0 && (
            <Empty icon={PartyPopper} title={text("correct-list.none")}>
              {status?.environment === "practice" && `${text("correct-list.none.practice")} `}
              {last ? text("reports.checked", { time: format.moment(last) }) : ""}
            </Empty>
          )}
          {causes.length > 0 && (
            <ul className={css.causes}>
              {causes.map((cause, at) => (
                <CauseCard key={cause.key} cause={cause} expanded={at === 0} open={open} onShow={show} onFix={setFixing} />
              ))}
            </ul>
          )}
        </div>
      </section>
      {open !== null && (
        <Detail key={open} id={open} onClose={() => show(null)} onShow={show} onCorrected={() => follow(open)} />
      )}
      {fixing && <FixDialog ids={fixing} onClose={() => setFixing(undefined)} />}
      {correcting !== undefined && (
        <CorrectDialog id={correcting} onClose={() => setCorrecting(undefined)} onDone={() => follow(correcting)} />
      )}
    </div>
  );
}

function CauseCard(props: {
  cause: Cause;
  expanded: boolean;
  open: number | null;
  onShow: (id: number) => void;
  onFix: (ids: number[]) => void;
}) {
  const { cause, open, onShow, onFix } = props;
  const text = useText();
  const format = useFormat();
  const words = useCodeText();
  const destination = useDestinations();
  const [expanded, setExpanded] = useState(props.expanded);
  // The next cause stays in sight; the report that is open is always among those shown.
  const [asked, setShown] = useState(FEW);
  const { message, rows } = cause;
  const shown = Math.max(asked, rows.findIndex((row) => row.id === open) + 1);
  const code = message?.rule;
  return (
    <li className={css.cause} data-testid="cause">
      <div className={css.head}>
        <span className={css.count}>
          <span aria-hidden>{format.number(rows.length)}</span>
          <span className="visually-hidden">{text("correct-list.count", { n: rows.length })}</span>
        </span>
        <div className={css.words}>
          <h2>{message ? sentenceOf(text, message) : words("state-meaning", cause.state)}</h2>
          {message?.text && (
            <p className={`${css.own} selectable`} lang="en">
              {message.text}
            </p>
          )}
          <p className={css.origin}>
            <StateLabel state={cause.state} size={14} />
            {code && <code>{code}</code>}
            <span>{text("correct-list.last", { time: format.moment(cause.last) })}</span>
            {rows.length > 1 && <span>{text("correct-list.first", { time: format.moment(cause.first) })}</span>}
            {cause.laboratories.length > 0 && <span>{cause.laboratories.join(", ")}</span>}
          </p>
        </div>
      </div>
      <div className={css.actions}>
        <Button
          tone="quiet"
          icon={expanded ? ChevronDown : ChevronRight}
          aria-expanded={expanded}
          onPress={() => setExpanded(!expanded)}
        >
          {text("correct-list.show", { n: rows.length })}
        </Button>
        <CauseActions cause={cause} onFix={onFix} />
      </div>
      {expanded && (
        <ul className={css.rows}>
          {rows.slice(0, shown).map((row) => (
            <li key={row.id}>
              <button
                type="button"
                className={css.row}
                aria-pressed={row.id === open}
                onClick={() => onShow(row.id)}
                data-testid="report-row"
                data-state={row.state}
              >
                <StateMark state={row.state} size={16} />
                <span className={css.what}>
                  <Subject about={row} otherwise={row.file} />
                  <Destination of={destination(row)} />
                  <span>{row.patient ?? text("reports.no-patient")}</span>
                  {row.errors > 1 && <span>{text("correct-list.also", { n: row.errors - 1 })}</span>}
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
      )}
    </li>
  );
}

/** Issue types by which an authority says that it could not, rather than that the report is wrong. */
const PASSING = new Set(["exception", "timeout", "transient", "throttled", "lock-error", "no-store", "incomplete"]);

/** One decision for all reports of a cause. */
function CauseActions({ cause, onFix }: { cause: Cause; onFix: (ids: number[]) => void }) {
  const text = useText();
  // What is asked about is what was shown then: a report that gets the same cause meanwhile is none of it.
  const [asking, setAsking] = useState<{ what: "resubmit" | "withdraw"; ids: number[] }>();
  const { busy, each, stop } = useMany(() => setAsking(undefined));
  const { again, never } = offered(cause);
  const cancel = () => {
    stop();
    setAsking(undefined);
  };
  const intake = useIntake();
  // One call for all of them: they are taken back together, in the bar that counts the seconds.
  const decide = useCommand("decide", {
    onDone(view) {
      setAsking(undefined);
      if (view.sent.length > 0) intake.followed(view.sent);
      const [first] = view.refused;
      if (first) say({ tone: "attention", title: text("decided.left", { n: refusedOf(view) }), more: problemText(text, first.problem).title });
    },
  });
  const isSending = decide.isPending;
  const resubmit = (ids: number[]) => decide.mutate({ ids, decision: "resubmit", reason: "" }, { onError: sayProblem(text) });
  // What the authority may have solved meanwhile can go again as it is; for all else that is useless.
  const passing = cause.message?.source === "authority" && PASSING.has(cause.message.code);
  return (
    <>
      {never.length > 0 && !passing && (
        <Button tone={never.length > 1 ? "primary" : "plain"} icon={Wrench} isPending={busy} onPress={() => onFix(never)} data-testid="fix-once">
          {text("fix.open")}
        </Button>
      )}
      {again.length > 0 && (
        <Button
          tone={passing ? "primary" : "quiet"}
          icon={RotateCw}
          isPending={busy || isSending}
          onPress={() => (again.length === 1 ? resubmit(again) : setAsking({ what: "resubmit", ids: again }))}
        >
          {text("correct-list.resubmit", { n: again.length })}
        </Button>
      )}
      {never.length > 0 && (
        <Button tone="quiet" icon={XCircle} isPending={busy} onPress={() => setAsking({ what: "withdraw", ids: never })}>
          {text("correct-list.withdraw", { n: never.length })}
        </Button>
      )}
      {asking?.what === "resubmit" && (
        <Dialog
          title={text("correct-list.resubmit.title", { n: asking.ids.length })}
          size="small"
          onClose={cancel}
          footer={
            <>
              <Button tone="quiet" isPending={isSending} onPress={() => resubmit(asking.ids)} data-testid="resubmit-all">
                {text("correct-list.resubmit.all", { n: asking.ids.length })}
              </Button>
              <Button tone="primary" isPending={isSending} onPress={() => resubmit(asking.ids.slice(0, 1))} data-testid="resubmit-one">
                {text("correct-list.resubmit.one")}
              </Button>
            </>
          }
        >
          <p>{text("correct-list.resubmit.more")}</p>
        </Dialog>
      )}
      {asking?.what === "withdraw" && (
        <ReasonDialog
          title={text("correct-list.withdraw.title", { n: asking.ids.length })}
          explanation={text("withdraw.more")}
          confirm={text("correct-list.withdraw", { n: asking.ids.length })}
          isPending={busy}
          onConfirm={(reason) => each(asking.ids, (here, id) => here.call("withdraw", { id, reason }))}
          onClose={cancel}
        />
      )}
    </>
  );
}
