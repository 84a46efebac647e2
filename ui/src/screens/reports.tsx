// Reports: the groups with live counts, search, the list, and the report that is open beside it.

import { Inbox, SearchX, X } from "lucide-react";
import { useDeferredValue, useRef, useState } from "react";

import { door } from "#door";

import { useList, useStatus } from "../bridge/queries";
import { useCodeText, useFormat, useText } from "../i18n/text";
import type { TextId } from "../i18n/text";
import { Button, SearchField, Select } from "../parts/controls";
import { CorrectDialog } from "../parts/correct-dialog";
import { useKeys } from "../parts/keys";
import { Empty, ProblemNote } from "../parts/notes";
import { ReportList } from "../parts/report-list";
import screen from "../parts/screen.module.css";
import { say, sayProblem } from "../parts/toasts";
import { useWindow } from "../place";
import type { Only, Sent } from "../place";
import { Detail } from "./detail";
import css from "./reports.module.css";

const GROUPS: { code: string | null; word: TextId }[] = [
  { code: null, word: "group.all" },
  { code: "needs-attention", word: "group.needs-attention" },
  { code: "in-progress", word: "group.in-progress" },
  { code: "completed", word: "group.completed" },
  { code: "closed", word: "group.closed" },
];

const PERIODS = { all: null, today: 0, week: 7, month: 30 } as const;
type Period = keyof typeof PERIODS;

function sinceOf(period: Period): string | null {
  const days = PERIODS[period];
  if (days === null) return null;
  const date = new Date();
  date.setHours(0, 0, 0, 0);
  date.setDate(date.getDate() - days);
  return date.toISOString();
}

export function Reports({ group, open, sent, only }: { group: string | null; open: number | null; sent?: Sent; only?: Only }) {
  const text = useText();
  const { go, reveal } = useWindow();
  const [search, setSearch] = useState(only?.search ?? "");
  const [period, setPeriod] = useState<Period>("all");
  const [correcting, setCorrecting] = useState<number>();
  const searchInput = useRef<HTMLInputElement>(null);
  const sought = useDeferredValue(search.trim());
  const since = only?.since ?? sinceOf(period);
  const { states = [], until = null } = only ?? {};
  const list = useList({ group, states, search: sought || null, since, until, ids: sent?.ids ?? null }, reveal);
  const rows = list.data?.pages.flatMap((page) => page.rows) ?? [];
  const total = list.data?.pages[0]?.total ?? 0;
  const [focused, setFocus] = useState<number | null>(open);
  const focus = open ?? focused;
  const show = (id: number | null) => {
    if (id !== null) setFocus(id);
    go({ screen: "reports", group, open: id, sent, only });
  };
  const move = (by: number) => {
    const at = rows.findIndex((row) => row.id === focus);
    const next = rows[at < 0 ? 0 : Math.min(rows.length - 1, Math.max(0, at + by))];
    if (!next) return;
    setFocus(next.id);
    if (open !== null) go({ screen: "reports", group, open: next.id, sent, only });
  };
  const act = useReportKeys(setCorrecting, show);
  const filter = (code: string | null) => () => go({ screen: "reports", group: code, open: null, sent, only });
  useKeys({
    "1": filter(null),
    "2": filter("needs-attention"),
    "3": filter("in-progress"),
    "4": filter("completed"),
    "5": filter("closed"),
    "/": () => searchInput.current?.focus(),
    j: () => move(1),
    k: () => move(-1),
    ArrowDown: () => move(1),
    ArrowUp: () => move(-1),
    Enter: () => focus !== null && show(focus),
    Escape: () => open !== null && show(null),
    e: () => act("correct", open ?? focus),
    r: () => act("resubmit", open ?? focus),
  });

  return (
    <div className={`${css.split} ${open === null ? "" : css.opened}`}>
      <section className={css.side} aria-label={text("nav.reports")}>
        <header className={css.header}>
          <h1>{text("nav.reports")}</h1>
          <div className={css.filters}>
            <SearchField label={text("reports.search")} value={search} onChange={setSearch} inputRef={searchInput} />
            <Select
              label={text("reports.period")}
              hideLabel
              value={period}
              choices={(Object.keys(PERIODS) as Period[]).map((id) => ({ id, name: text(`period.${id}`) }))}
              onChange={(id) => setPeriod(id as Period)}
            />
          </div>
          {sent && <SentFilter sent={sent} group={group} />}
          {only && <OnlyFilter only={only} group={group} />}
          <GroupFilter group={group} show={(code) => filter(code)()} />
        </header>
        {list.error ? (
          <div className={screen.body}>
            <ProblemNote problem={list.error} />
          </div>
        ) : rows.length === 0 && !list.isPending ? (
          <NothingHere filtered={Boolean(sought) || period !== "all" || only !== undefined} group={group} />
        ) : (
          <ReportList
            rows={rows}
            total={total}
            focus={focus}
            open={open}
            onOpen={show}
            onFocus={setFocus}
            onEnd={() => list.hasNextPage && !list.isFetching && void list.fetchNextPage()}
          />
        )}
      </section>
      {open !== null && <Detail key={open} id={open} onClose={() => show(null)} onShow={show} />}
      {correcting !== undefined && (
        <CorrectDialog id={correcting} onClose={() => setCorrecting(undefined)} onDone={show} />
      )}
    </div>
  );
}

/** The actions that a key starts: only those that the core offers for that report. */
function useReportKeys(correct: (id: number) => void, show: (id: number) => void) {
  const text = useText();
  return (action: "correct" | "resubmit", id: number | null) => {
    if (id === null) return;
    void door
      .call("detail", { id })
      .then(async ({ actions }) => {
        if (!actions.includes(action)) say({ tone: "progress", title: text("reports.not-now") });
        else if (action === "correct") correct(id);
        else show(await door.call("resubmit", { id }));
      })
      .catch(sayProblem(text));
  };
}

/** Only what was sent together, until that is taken away. */
function SentFilter({ sent, group }: { sent: Sent; group: string | null }) {
  const text = useText();
  const format = useFormat();
  const { go } = useWindow();
  const time = format.moment(new Date(sent.at).toISOString());
  return (
    <p className={css.only} data-testid="sent-filter">
      <span>{text("reports.sent", { n: sent.ids.length, time })}</span>
      <Button tone="quiet" icon={X} onPress={() => go({ screen: "reports", group, open: null })}>
        {text("reports.show-all")}
      </Button>
    </p>
  );
}

/** What a figure of the overview counted, until that is taken away. */
function OnlyFilter({ only, group }: { only: Only; group: string | null }) {
  const text = useText();
  const format = useFormat();
  const words = useCodeText();
  const { go } = useWindow();
  const { since, until, states } = only;
  const last = new Date(Date.parse(until ?? new Date().toISOString()) - 1).toISOString();
  const days = since && [...new Set([format.date(since), format.date(last)])].join(" – ");
  const what = [days, states.map((state) => words("state", state)).join(", ")].filter(Boolean).join(" · ");
  if (!what) return null;
  return (
    <p className={css.only} data-testid="only-filter">
      <span>{what}</span>
      <Button tone="quiet" icon={X} onPress={() => go({ screen: "reports", group, open: null })}>
        {text("reports.show-all")}
      </Button>
    </p>
  );
}

function GroupFilter({ group, show }: { group: string | null; show: (code: string | null) => void }) {
  const text = useText();
  const format = useFormat();
  const counts = useStatus().data?.counts;
  const count = (code: string | null) => {
    if (!counts) return undefined;
    const { needsAttention, inProgress, completed, closed } = counts;
    switch (code) {
      case "needs-attention":
        return needsAttention;
      case "in-progress":
        return inProgress;
      case "completed":
        return completed;
      case "closed":
        return closed;
      default:
        return needsAttention + inProgress + completed + closed;
    }
  };
  return (
    <div className={css.groups} role="group" aria-label={text("reports.groups")}>
      {GROUPS.map(({ code, word }) => (
        <button
          key={word}
          type="button"
          className={`${css.group} ${code === "needs-attention" && count(code) ? css.attention : ""}`}
          aria-pressed={group === code}
          onClick={() => show(code)}
          data-testid={`group-${code ?? "all"}`}
        >
          {text(word)}
          <span className={css.count}>{format.number(count(code) ?? 0)}</span>
        </button>
      ))}
    </div>
  );
}

function NothingHere({ filtered, group }: { filtered: boolean; group: string | null }) {
  const text = useText();
  const format = useFormat();
  const { go } = useWindow();
  const last = useStatus().data?.lastContact;
  if (filtered) {
    return (
      <Empty icon={SearchX} title={text("reports.no-match")}>
        {text("reports.no-match.more")}
      </Empty>
    );
  }
  const check = last ? text("reports.checked", { time: format.moment(last) }) : "";
  if (group === null) {
    return (
      <Empty
        icon={Inbox}
        title={text("reports.none")}
        actions={
          <Button tone="primary" onPress={() => go({ screen: "send" })}>
            {text("reports.none.send")}
          </Button>
        }
      >
        {text("reports.none.more")}
      </Empty>
    );
  }
  return (
    <Empty icon={Inbox} title={text("reports.none-in-group")}>
      {check}
    </Empty>
  );
}
