// To correct: what needs a person, by cause, so that one decision serves many reports.

import { History, Hourglass, ListPlus, PartyPopper } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import type { ReactNode } from "react";

import { useQueryClient } from "@tanstack/react-query";

import { ALL, useBatch, useCameBack, useList, useStatus } from "../bridge/queries";
import type { UnfinishedFix } from "../bridge/generated/UnfinishedFix";
import { causesOf, daysOf, firstOf, isCalm } from "../causes";
import type { Cause } from "../causes";
import { useCodeText, useFormat, useText } from "../i18n/text";
import type { Text } from "../i18n/text";
import { useIntake } from "../intake";
import { useSecondsLeft } from "../parts/countdown";
import { CorrectDialog } from "../parts/correct-dialog";
import { FixDialog } from "../parts/fix-dialog";
import { useKeys } from "../parts/keys";
import { Button } from "../kit/controls";
import { followFocus } from "../kit/focus";
import { Empty, ReadProblem } from "../kit/notes";
import { TakenBackMark } from "../parts/on-hold";
import { useReportKeys } from "../parts/report-keys";
import { useOwnWords } from "../parts/own-words";
import { headingOf, leadingWords, unsaidOf } from "../parts/said";
import screen from "../kit/screen.module.css";
import { Sparkline } from "../parts/sparkline";
import { StateLabel } from "../parts/state";
import { say } from "../kit/toasts";
import { useWindow } from "../place";
import { CausePage, CauseRows } from "./cause";
import css from "./correct.module.css";
import { Detail } from "./detail";

/** Rows that are grouped at a time: more are read when somebody asks for them. */
const ROWS_AT_A_TIME = 5000;

/** `cause` is the key of the one that was asked for elsewhere. */
export function Correct({ open, cause }: { open: number | null; cause?: string | undefined }) {
  const text = useText();
  const format = useFormat();
  const { go, reveal } = useWindow();
  const status = useStatus().data;
  const last = status?.lastContact;
  const waiting = useWaiting();
  const list = useList({ ...ALL, group: "needs-attention" }, reveal);
  const rows = list.data?.pages.flatMap((page) => page.rows) ?? [];
  const total = list.data?.pages[0]?.total ?? rows.length;
  const causes = causesOf(rows);
  const [chosen, setChosen] = useState(cause);
  const holding = causes.find((cause) => cause.rows.some((row) => row.id === open));
  const current = holding ?? causes.find((cause) => cause.key === chosen) ?? causes[0];
  const { hasNextPage, isFetching, fetchNextPage } = list;
  // A cause whose reports have all come in after it was corrected has come back: all of them have to be known.
  const cameBack = useCameBack(hasNextPage ? [] : causes.map(firstOf));
  const corrected = (cause: Cause) => cameBack.corrected.get(firstOf(cause));
  const [most, setMost] = useState(ROWS_AT_A_TIME);
  const left = total - rows.length;
  const isCut = hasNextPage && rows.length >= most;
  useEffect(() => {
    // A cause is only counted right when all its reports are known.
    if (hasNextPage && !isFetching && rows.length < most) void fetchNextPage();
  }, [hasNextPage, isFetching, fetchNextPage, rows.length, most]);
  const show = (id: number | null) => go({ screen: "correct", open: id });
  const close = () => {
    setChosen(holding?.key);
    show(null);
  };
  /** The one that was open last: whoever closes it is on its row again. */
  const [opened, setOpened] = useState(open);
  if (open !== null && open !== opened) setOpened(open);
  const [correcting, setCorrecting] = useState<number>();
  // Kept here: a cause is gone from the list once its last report is corrected, and the dialog must not go with it.
  const [fixing, setFixing] = useState<{ ids: number[]; left: UnfinishedFix | undefined }>();
  const cache = useQueryClient();
  const closeFix = () => {
    setFixing(undefined);
    void cache.invalidateQueries({ queryKey: ["unfinished_fixes"] });
  };
  /** The cause of the report that is open, as it was when that was still one of it: a correction may be in the list before
   *  its answer is here. */
  const known = useRef(holding);
  useEffect(() => {
    if (holding) known.current = holding;
  });
  /** The next report of the same cause slides in; how many are left is said. */
  const follow = (done: number) => {
    const of = known.current?.rows ?? [];
    const stay = new Set(rows.map(({ id }) => id));
    const left = of.filter(({ id }) => id !== done && stay.has(id));
    const at = of.filter(({ id }) => id === done || stay.has(id)).findIndex(({ id }) => id === done);
    say({ tone: "done", title: text("correct.next", { n: left.length }), isOfBatch: true });
    show((left[at] ?? left[0])?.id ?? null);
  };
  const act = useReportKeys(setCorrecting, show);
  const ordered = causes.flatMap((cause) => cause.rows);
  const move = (by: number) => {
    const at = ordered.findIndex((row) => row.id === open);
    const begin = Math.max(
      0,
      ordered.findIndex((row) => row.id === current?.rows[0]?.id),
    );
    const next = ordered[at < 0 ? begin : Math.min(ordered.length - 1, Math.max(0, at + by))];
    if (!next) return;
    show(next.id);
    // Else Enter would press what had the focus before, instead of correcting the report.
    followFocus();
  };
  useKeys({
    j: () => move(1),
    k: () => move(-1),
    ArrowDown: () => move(1),
    ArrowUp: () => move(-1),
    e: () => act("correct", open),
    r: () => act("resubmit", open),
    Enter: () => (open === null ? move(0) : act("correct", open)),
    Escape: () => open !== null && close(),
  });
  return (
    <div className={`${css.split} ${open === null ? "" : css.opened} ${causes.length === 0 ? css.alone : ""}`}>
      <section className={css.side}>
        <header className={screen.header}>
          <div>
            <h1>{text("nav.correct")}</h1>
            {rows.length > 0 && <p className={screen.lead}>{sumOf(text, causes, total, isCut)}</p>}
          </div>
        </header>
        <div className={screen.body}>
          <ReadProblem of={list.error ? list : cameBack.read} />
          {!list.isPending && !list.error && rows.length === 0 && (
            <AllClear waiting={waiting}>
              {status?.environment === "practice" && `${text("correct-list.none.practice")} `}
              {last ? text("reports.checked", { time: format.moment(last) }) : ""}
            </AllClear>
          )}
          {isCut && (
            <div className={css.cut} data-testid="causes-cut">
              <p className={screen.lead}>
                {text("correct-list.cut", { shown: format.number(rows.length), n: format.number(total) })}
              </p>
              <Button icon={ListPlus} onPress={() => setMost(rows.length + ROWS_AT_A_TIME)} data-testid="causes-more">
                {text("correct-list.more", { n: Math.min(left, ROWS_AT_A_TIME) })}
              </Button>
            </div>
          )}
          {causes.length > 0 && (
            <ul className={css.causes} aria-label={text("cause.list")}>
              {causes.map((cause) => (
                <li key={cause.key}>
                  <CauseItem
                    cause={cause}
                    isCurrent={cause === current}
                    isBack={corrected(cause) !== undefined}
                    isCut={isCut}
                    onPress={() => {
                      setChosen(cause.key);
                      show(null);
                    }}
                  />
                  {open !== null && cause === holding && <CauseRows cause={cause} open={open} onShow={show} />}
                </li>
              ))}
            </ul>
          )}
        </div>
      </section>
      {open === null && current && (
        <CausePage
          key={current.key}
          cause={current}
          isWhole={!hasNextPage || isCut}
          isCut={isCut}
          corrected={corrected(current)}
          isBelow={current === causes.at(-1)}
          last={opened}
          onShow={show}
          onFix={(ids, left) => setFixing({ ids, left })}
        />
      )}
      {open !== null && (
        <Detail
          key={open}
          id={open}
          onClose={close}
          onShow={show}
          onCorrected={(next, isKept) => (isKept ? show(next) : follow(open))}
        />
      )}
      {fixing && <FixDialog {...fixing} onClose={closeFix} />}
      {correcting !== undefined && (
        <CorrectDialog
          id={correcting}
          onClose={() => setCorrecting(undefined)}
          onDone={(next, isKept) => (isKept ? show(next) : follow(correcting))}
        />
      )}
    </div>
  );
}

/** How many are to be corrected, for how many causes, and how many were only taken back: nothing is wrong with these. */
function sumOf(text: Text, causes: Cause[], total: number, isCut: boolean): string {
  const calm = causes.filter(isCalm);
  const back = calm.reduce((sum, { rows }) => sum + rows.length, 0);
  const rest = { n: total - back, causes: causes.length - calm.length };
  const parts = [
    rest.n > 0 && text(isCut ? "correct-list.sum.least" : "correct-list.sum", rest),
    back > 0 && text("on-hold.back", { n: back }),
  ];
  return parts.filter(Boolean).join(" · ");
}

/** A cause in the list: how many, what, how it went, and whether it has come back. */
function CauseItem(props: { cause: Cause; isCurrent: boolean; isBack: boolean; isCut: boolean; onPress: () => void }) {
  const { cause, isCurrent, isBack, isCut, onPress } = props;
  const text = useText();
  const format = useFormat();
  const words = useCodeText();
  const { reveal } = useWindow();
  const { message, rows } = cause;
  const own = useOwnWords(cause, message !== null && leadingWords(text, message) !== null);
  return (
    <button
      type="button"
      className={css.cause}
      aria-current={isCurrent ? "true" : undefined}
      onClick={onPress}
      data-testid="cause"
    >
      <span className={css.count} data-calm={isCalm(cause) ? "" : undefined}>
        <span aria-hidden>
          {isCut ? text("cause.least", { n: format.number(rows.length) }) : format.number(rows.length)}
        </span>
        <span className="visually-hidden">
          {text(isCut ? "correct-list.count.least" : "correct-list.count", { n: rows.length })}
        </span>
      </span>
      <span className={css.name}>
        <strong>{message ? headingOf(text, message, !reveal, own) : unsaidOf(text, words, cause)}</strong>
        <span className={css.origin}>
          <StateLabel state={cause.state} size={14} />
          <span>{format.moment(cause.last)}</span>
          {!isCalm(cause) && <TakenBackMark rows={rows} />}
          {isBack && (
            <span className={css.back} data-testid="cause-back">
              <History aria-hidden size={13} />
              {text("cause.regressed.short")}
            </span>
          )}
        </span>
      </span>
      <Sparkline counts={daysOf(cause, new Date())} />
    </button>
  );
}

/** How many reports of the last batch can still be taken back, and for how many seconds. */
function useWaiting(): { n: number; seconds: number } {
  const { batch } = useIntake();
  const read = useBatch(batch?.ids ?? []);
  const seconds = useSecondsLeft(read.data?.undoUntil ?? null, () => void read.refetch());
  return { n: batch?.held ? 0 : (read.data?.waiting.length ?? 0), seconds };
}

/** As long as what was sent last can be taken back, and a correction among it be on this list again, nothing is done for
 * good. */
function AllClear({ waiting, children }: { waiting: { n: number; seconds: number }; children: ReactNode }) {
  const text = useText();
  if (waiting.n > 0 && waiting.seconds > 0) {
    return (
      <Empty icon={Hourglass} title={text("batch.waiting", waiting)}>
        {children}
      </Empty>
    );
  }
  return (
    <Empty icon={PartyPopper} title={text("correct-list.none")}>
      {children}
    </Empty>
  );
}
