// Reports: the groups with live counts, search, filters, the list, what is chosen, and the report that is open beside it.

import { useQueryClient } from "@tanstack/react-query";
import { ChevronDown, ChevronUp, Inbox, SearchX, X } from "lucide-react";
import { useDeferredValue, useRef, useState } from "react";

import { door } from "#door";

import { problemOf } from "../bridge/door";
import type { RowView } from "../bridge/generated/RowView";
import type { StatusView } from "../bridge/generated/StatusView";
import { useDeadlines, useList, useListCounts, useStatus } from "../bridge/queries";
import { useCodeText, useFormat, useText, useWords } from "../i18n/text";
import { BulkBar, refusedOf } from "../parts/bulk-bar";
import { Button, SearchField, Select } from "../kit/controls";
import { CorrectDialog } from "../parts/correct-dialog";
import { useDestinations } from "../parts/destination";
import { DecidedBar } from "../parts/decided";
import type { Decided } from "../parts/decided";
import { useAllKey, useKeys } from "../parts/keys";
import { DeadlineFilter, DiseaseFilter, GroupFilter, LaboratoryFilter, StateFilter } from "../parts/list-filters";
import { SavedViews } from "../parts/saved-views";
import { useFilterNames } from "../parts/filter-names";
import { NOT_CORRECTED } from "../parts/state";
import { Empty, ReadProblem } from "../kit/notes";
import { useReportKeys } from "../parts/report-keys";
import { ReportList } from "../parts/report-list";
import screen from "../kit/screen.module.css";
import { sayProblem } from "../kit/toasts";
import { useOnce, useOtherRoom, useWindow } from "../place";
import type { Only, Sent } from "../place";
import { useSelection } from "../selection";
import type { Selection } from "../selection";
import { EVERYTHING, PERIODS, filterOf, filtersIn, isNarrowed, sortedBy } from "../view";
import type { Period, View } from "../view";
import { Detail } from "./detail";
import css from "./reports.module.css";
import type { Group } from "../bridge/generated/Group";

export function Reports({
  group,
  open,
  sent,
  only,
  corrects,
}: {
  group: Group | null;
  open: number | null;
  sent?: Sent;
  only?: Only;
  /** The form of the open report is asked for. */
  corrects?: true;
}) {
  const text = useText();
  const { language } = useWords();
  const { go, reveal } = useWindow();
  const [own, setView] = useAskedView(only);
  const view: View = { ...own, group };
  const [correcting, setCorrecting] = useState<number>();
  const [decided, setDecided] = useState<Decided>();
  const [showsFilters, setShowsFilters] = useState(false);
  const searchInput = useRef<HTMLInputElement>(null);
  const grid = useRef<HTMLDivElement>(null);
  const sought = useDeferredValue(view.search.trim());
  const filter = filterOf({ ...view, search: sought }, language, { only, sent });
  const list = useList(filter, reveal);
  const counts = useListCounts({ ...filter, sort: null, ascending: false, language: null });
  const rows = list.data?.pages.flatMap((page) => page.rows) ?? [];
  const total = list.data?.pages[0]?.total ?? 0;
  const [focused, setFocus] = useState<number | null>(open);
  const focus = open ?? focused;
  const ownDeadlines = useDeadlines();
  const { deadlines } = ownDeadlines.data ?? { deadlines: [] };
  const destination = useDestinations();
  const selection = useSelection();
  useOtherRoom(useStatus().data?.room, () => {
    selection.clear();
    setDecided(undefined);
  });
  const show = (id: number | null) => {
    if (id !== null) setFocus(id);
    go({ screen: "reports", group, open: id, sent, only });
  };
  const chooseAll = useChooseAll(selection, filter);
  const move = (by: number, event: KeyboardEvent) => {
    const at = rows.findIndex((row) => row.id === focus);
    const next = rows[at < 0 ? 0 : Math.min(rows.length - 1, Math.max(0, at + by))];
    if (!next) return;
    if (event.shiftKey) extend(selection, rows, rows[at]?.id ?? null, next.id);
    setFocus(next.id);
    // Else Enter would press what had the focus before, instead of opening the report.
    grid.current?.focus({ preventScroll: true });
    if (open !== null) go({ screen: "reports", group, open: next.id, sent, only });
  };
  const act = useReportKeys(setCorrecting, show);
  useOnce(corrects === true, () => {
    // Whoever comes back to this place has not asked for the form again.
    show(open);
    // What cannot be corrected, as one in doubt, is shown with what can be done with it.
    act("correct", open, () => undefined);
  });
  const toGroup = (code: Group | null) => () => go({ screen: "reports", group: code, open: null, sent, only });
  useAllKey(chooseAll);
  useKeys({
    "1": toGroup(null),
    "2": toGroup("needs-attention"),
    "3": toGroup("in-progress"),
    "4": toGroup("completed"),
    "5": toGroup("closed"),
    "/": () => searchInput.current?.focus(),
    j: (event) => move(1, event),
    k: (event) => move(-1, event),
    x: () => focus !== null && selection.toggle(focus),
    ArrowDown: (event) => move(1, event),
    ArrowUp: (event) => move(-1, event),
    Enter: () => focus !== null && show(focus),
    Escape: () => (open !== null ? show(null) : selection.clear()),
    e: () => act("correct", open ?? focus),
    r: () => act("resubmit", open ?? focus),
  });
  const set = (change: Partial<View>) => setView((known) => ({ ...known, ...change }));
  const use = (kept: View) => {
    setView(kept);
    go({ screen: "reports", group: kept.group, open: null });
  };
  const clearFilters = () => {
    setView(EVERYTHING);
    go({ screen: "reports", group, open: null });
  };

  return (
    <div className={`${css.split} ${open === null ? "" : css.opened}`}>
      <section className={css.side} aria-label={text("nav.reports")}>
        <header className={css.header}>
          <div className={css.filters}>
            <h1>{text("nav.reports")}</h1>
            <SearchField
              label={text("reports.search")}
              value={view.search}
              onChange={(search) => set({ search })}
              inputRef={searchInput}
              onLeave={() => {
                searchInput.current?.blur();
                grid.current?.focus();
                if (!rows.some((row) => row.id === focus)) setFocus(rows[0]?.id ?? null);
              }}
            />
            <span className={css.unfolds}>
              <Button
                icon={showsFilters ? ChevronUp : ChevronDown}
                onPress={() => setShowsFilters(!showsFilters)}
                aria-expanded={showsFilters}
                data-testid="filters"
              >
                {text("filter.all", { n: filtersIn(view) })}
              </Button>
            </span>
            <SavedViews view={view} onUse={use} />
          </div>
          {sent && <SentFilter sent={sent} group={group} />}
          {only && <OnlyFilter only={only} group={group} />}
          <div className={css.narrowing}>
            <GroupFilter group={group} counts={counts.data} show={(code) => toGroup(code)()} />
            <div className={css.menus} data-folded={!showsFilters}>
              <Select
                label={text("reports.period")}
                hideLabel
                value={view.period}
                choices={(Object.keys(PERIODS) as Period[]).map((id) => ({ id, name: text(`period.${id}`) }))}
                onChange={(period) => set({ period })}
              />
              <StateFilter states={view.states} counts={counts.data} onChange={(states) => set({ states })} />
              <LaboratoryFilter
                laboratory={view.laboratory}
                counts={counts.data}
                onChange={(laboratory) => set({ laboratory })}
              />
              <DiseaseFilter about={view.about} counts={counts.data} onChange={(about) => set({ about })} />
              {(deadlines.length > 0 || view.timeliness !== null) && (
                <DeadlineFilter
                  timeliness={view.timeliness}
                  counts={counts.data}
                  onChange={(timeliness) => set({ timeliness })}
                />
              )}
            </div>
          </div>
          <ReadProblem of={ownDeadlines} />
        </header>
        {list.error ? (
          <div className={screen.body}>
            <ReadProblem of={list} />
          </div>
        ) : rows.length === 0 && !list.isPending ? (
          <NothingHere
            view={view}
            filtered={isNarrowed(view) || only !== undefined}
            onClearSearch={() => set({ search: "" })}
            onClear={clearFilters}
          />
        ) : (
          <ReportList
            grid={grid}
            rows={rows}
            total={total}
            focus={focus}
            open={open}
            order={{ column: view.sort, ascending: view.ascending }}
            hasDeadlines={view.sort === "deadline" || deadlines.length > 0}
            chosen={selection.ids}
            destination={destination}
            onOpen={show}
            onFocus={setFocus}
            onEnd={() => list.hasNextPage && !list.isFetching && void list.fetchNextPage()}
            onSort={(column) => set(sortedBy(view, column))}
            onChoose={(id, range, shown) => (range ? extend(selection, shown, focus, id) : selection.toggle(id))}
            onChooseAll={() => (selection.ids.size > 0 ? selection.clear() : chooseAll())}
          />
        )}
        {decided && (
          <DecidedBar
            key={decided.at}
            decided={decided}
            onClose={() => setDecided(undefined)}
            onShow={(ids) =>
              go({ screen: "reports", group: null, open: null, sent: { ids, at: Date.now(), chosen: true } })
            }
          />
        )}
        {selection.ids.size > 0 && (
          <BulkBar
            selection={selection}
            total={total}
            hidden={hiddenOf(selection, rows, list.hasNextPage)}
            onAll={chooseAll}
            // All of them sent: the bar that follows them says it.
            onDecided={(done) => setDecided(done.view.sent.length > 0 && refusedOf(done.view) === 0 ? undefined : done)}
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

/** Filters as somebody sets them; what is asked for anew from elsewhere in the window begins with all reports again. */
function useAskedView(only: Only | undefined) {
  const asked = (): View => ({
    ...EVERYTHING,
    search: only?.search ?? "",
    about: only?.about ?? null,
    timeliness: only?.timeliness ?? null,
  });
  const state = useState<View>(asked);
  const [before, setBefore] = useState(only);
  if (before !== only) {
    setBefore(only);
    if (only) state[1](asked());
  }
  return state;
}

/** A range begins where the last choice was made, or else where the focus stands. */
function extend(selection: Selection, rows: RowView[], from: number | null, to: number): void {
  if (selection.ids.size === 0 && from !== null) selection.toggle(from);
  selection.extend(to, rows);
}

/** Chosen reports that the list does not show; known once all its rows are there. */
function hiddenOf(selection: Selection, rows: RowView[], hasMore: boolean): number {
  if (hasMore) return 0;
  const shown = new Set(rows.map((row) => row.id));
  return [...selection.ids].filter((id) => !shown.has(id)).length;
}

/** Chooses all reports that the filters leave, also those that were never scrolled to. */
function useChooseAll(selection: Selection, filter: ReturnType<typeof filterOf>): () => void {
  const text = useText();
  const cache = useQueryClient();
  const room = () => cache.getQueryData<StatusView>(["status"])?.room;
  return () => {
    const before = room();
    void door
      .call("matching", { query: { ...filter, before: null, limit: null } })
      // In another room these numbers would be other reports.
      .then((ids) => room() === before && selection.choose(ids))
      .catch((thrown: unknown) => sayProblem(text)(problemOf(thrown)));
  };
}

/** Only what was sent together, until that is taken away. */
function SentFilter({ sent, group }: { sent: Sent; group: Group | null }) {
  const text = useText();
  const format = useFormat();
  const { go } = useWindow();
  const time = format.at(new Date(sent.at).toISOString());
  return (
    <p className={css.only} data-testid="sent-filter">
      <span>{text(sent.chosen ? "reports.these" : "reports.sent", { n: sent.ids.length, time })}</span>
      <Button tone="quiet" icon={X} onPress={() => go({ screen: "reports", group, open: null })}>
        {text("reports.show-all")}
      </Button>
    </p>
  );
}

/** What a figure of the overview counted, until that is taken away. */
function OnlyFilter({ only, group }: { only: Only; group: Group | null }) {
  const text = useText();
  const format = useFormat();
  const words = useCodeText();
  const { go } = useWindow();
  const { since, until, states } = only;
  const last = new Date(Date.parse(until ?? new Date().toISOString()) - 1).toISOString();
  const days = since && [...new Set([format.date(since), format.date(last)])].join(" – ");
  // All but one would be a long list.
  const isRest = states.length === NOT_CORRECTED.length && !states.includes("superseded");
  const named = isRest ? text("reports.not-corrected") : states.map((state) => words("state", state)).join(", ");
  const what = [days, named].filter(Boolean).join(" · ");
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

function NothingHere(props: { view: View; filtered: boolean; onClearSearch: () => void; onClear: () => void }) {
  const { view, filtered, onClearSearch, onClear } = props;
  const { group } = view;
  const text = useText();
  const { locale } = useWords();
  const names = new Intl.ListFormat(locale, { type: "conjunction" }).format(useFilterNames(view));
  const format = useFormat();
  const { go } = useWindow();
  const last = useStatus().data?.lastContact;
  if (filtered) {
    return (
      <Empty
        icon={SearchX}
        title={text("reports.no-match")}
        actions={
          <>
            {view.search.trim() !== "" && (
              <Button onPress={onClearSearch} data-testid="clear-search">
                {text("action.clear-search")}
              </Button>
            )}
            <Button onPress={onClear} data-testid="clear-filters">
              {text("filter.clear")}
            </Button>
          </>
        }
      >
        {names && text("reports.no-match.more", { filters: names })}
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
