// The list of reports: our own ARIA grid over a virtualiser, so that a million rows paint like ten.
// One focus for the whole grid (aria-activedescendant); rows come and go beneath it.

import { ArrowDown, ArrowUp, Check, Minus } from "lucide-react";
import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useRef, useState } from "react";

import type { RowView } from "../bridge/generated/RowView";
import type { State } from "../bridge/generated/State";
import { useCodeText, useFormat, useText } from "../i18n/text";
import type { TextId } from "../i18n/text";
import type { Column } from "../view";
import { Button } from "../kit/controls";
import { Deadline } from "./deadline";
import { Destination } from "./destination";
import { DraftMark } from "./drafts";
import { headingOf } from "./said";
import { useWindow } from "../place";
import css from "./report-list.module.css";
import { StateLabel, toneOf } from "./state";
import { Subject } from "./subject";

/** Height of a row, in sizes of text; the style sheet has the same. */
const textSize = () => parseFloat(getComputedStyle(document.documentElement).fontSize || "16");
const rowHeight = () => textSize() * (document.documentElement.dataset.density === "compact" ? 3 : 3.75);
/** Height of the names of the columns, likewise. */
const HEAD = 2.25;
/** Rows before the end at which the next page is asked for. */
const AHEAD = 40;

interface Props {
  /** The grid, which takes the focus and the keys. */
  grid?: React.RefObject<HTMLDivElement | null>;
  rows: RowView[];
  total: number;
  focus: number | null;
  open: number | null;
  /** Sorted by a column: rows stand where they belong, and new ones are no matter of the top. */
  order: { column: string | null; ascending: boolean };
  /** There are deadlines to sort by. */
  hasDeadlines: boolean;
  chosen: ReadonlySet<number>;
  /** Where a report goes, where that has to be said. */
  destination: (row: RowView) => string | null;
  onOpen: (id: number) => void;
  onFocus: (id: number) => void;
  onEnd: () => void;
  onSort: (column: Column) => void;
  /** `range`: from the one that was chosen last to this one. */
  onChoose: (id: number, range: boolean, rows: RowView[]) => void;
  onChooseAll: () => void;
}

export function ReportList(props: Props) {
  const { rows: all, total, focus, open, order, chosen, destination, onOpen, onFocus, onEnd, onChoose } = props;
  const text = useText();
  const own = useRef<HTMLDivElement>(null);
  const scroller = props.grid ?? own;
  const { rows, fresh, showFresh } = useStill(all, order.column !== null, scroller);
  // Once for each drawing: asked for each of a million rows it would be the whole work.
  const height = rowHeight();
  const head = HEAD * textSize();
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => height,
    getItemKey: (at) => rows[at]?.id ?? at,
    overscan: 8,
    scrollMargin: head,
    scrollPaddingStart: head,
  });
  const items = virtual.getVirtualItems();
  const last = items.at(-1)?.index ?? 0;
  useEffect(() => {
    if (last >= rows.length - AHEAD) onEnd();
  }, [last, rows.length, onEnd]);

  const at = rows.findIndex((row) => row.id === focus);
  useEffect(() => {
    if (at >= 0) virtual.scrollToIndex(at, { align: "auto" });
  }, [at, virtual]);

  return (
    <div className={css.list}>
      {fresh > 0 && (
        <div className={css.fresh}>
          <Button tone="primary" icon={ArrowUp} onPress={showFresh}>
            {text("reports.fresh", { n: fresh })}
          </Button>
        </div>
      )}
      <div
        ref={scroller}
        className={css.scroller}
        role="grid"
        tabIndex={0}
        aria-label={text("nav.reports")}
        aria-multiselectable
        aria-rowcount={total + 1}
        aria-colcount={5}
        aria-activedescendant={at >= 0 ? `report-${focus}` : undefined}
        data-takes-focus=""
        data-testid="report-list"
        onKeyDown={(event) => {
          if (event.key !== " " || event.target !== event.currentTarget || focus === null) return;
          event.preventDefault();
          onChoose(focus, event.shiftKey, rows);
        }}
      >
        <Head {...props} />
        <div role="rowgroup" className={css.canvas} style={{ height: virtual.getTotalSize() }}>
          {items.map((item) => {
            const row = rows[item.index];
            return (
              row && (
                <Row
                  key={item.key}
                  row={row}
                  destination={destination(row)}
                  index={item.index}
                  top={item.start - virtual.options.scrollMargin}
                  isFocused={row.id === focus}
                  isOpen={row.id === open}
                  isChosen={chosen.has(row.id)}
                  onPress={(how) => {
                    onFocus(row.id);
                    if (how === "open") onOpen(row.id);
                    else onChoose(row.id, how === "range", rows);
                  }}
                />
              )
            );
          })}
        </div>
      </div>
    </div>
  );
}

interface Sorted {
  column: Column;
  word: TextId;
}
/** Some columns hold several facts, each of which sorts. */
const COLUMNS: [Sorted, ...Sorted[]][] = [
  [
    { column: "disease", word: "column.disease" },
    { column: "state", word: "column.state" },
    { column: "deadline", word: "column.deadline" },
  ],
  [{ column: "patient", word: "column.patient" }],
  [{ column: "laboratory", word: "column.laboratory" }],
  [{ column: "updated", word: "column.updated" }],
];

/** The names of the columns; a press sorts. */
function Head({ total, order, hasDeadlines, chosen, onSort, onChooseAll }: Props) {
  const text = useText();
  const direction = order.ascending ? "ascending" : "descending";
  const sorter = ({ column, word }: Sorted) => {
    const Icon = order.ascending ? ArrowUp : ArrowDown;
    return (
      <button
        key={column}
        type="button"
        className={css.sorter}
        onClick={() => onSort(column)}
        data-testid={`sort-${column}`}
      >
        {text(word)}
        {order.column === column && (
          <>
            <Icon aria-hidden size={14} />
            <span className="visually-hidden">{text(`sort.${direction}`)}</span>
          </>
        )}
      </button>
    );
  };
  return (
    <div role="rowgroup" className={css.head}>
      <div role="row" aria-rowindex={1} className={css.columns}>
        <span role="columnheader" className={css.choice}>
          <button
            type="button"
            role="checkbox"
            className={css.box}
            aria-checked={chosen.size === 0 ? false : chosen.size >= total ? true : "mixed"}
            aria-label={text(chosen.size === 0 ? "bulk.all" : "bulk.clear", { n: total })}
            onClick={onChooseAll}
            data-testid="choose-all"
          >
            {chosen.size > 0 &&
              (chosen.size >= total ? <Check aria-hidden size={13} /> : <Minus aria-hidden size={13} />)}
          </button>
        </span>
        {COLUMNS.map((facts) => (
          <span
            key={facts[0].column}
            role="columnheader"
            className={css[facts[0].column]}
            aria-sort={facts.some(({ column }) => column === order.column) ? direction : "none"}
          >
            {facts.filter(({ column }) => hasDeadlines || column !== "deadline").map(sorter)}
          </span>
        ))}
      </div>
    </div>
  );
}

/** What a press on a row asks for: its report, its choice, or the choice of all up to it. */
type Press = "open" | "choose" | "range";

function Row(props: {
  row: RowView;
  destination: string | null;
  index: number;
  top: number;
  isFocused: boolean;
  isOpen: boolean;
  isChosen: boolean;
  onPress: (how: Press) => void;
}) {
  const { row, destination, index, top, isFocused, isOpen, isChosen, onPress } = props;
  const text = useText();
  const format = useFormat();
  const { reveal } = useWindow();
  const words = useCodeText();
  // What the authority said of the earlier delivery does not say why this one waits.
  const why =
    row.takenBack && row.state === "held"
      ? text("on-hold.back.row")
      : row.state === "held" && !row.message && words("state-meaning", row.state);
  const said = [why, row.message && headingOf(text, row.message, !reveal)].filter(Boolean).join(" · ") || null;
  const patient = row.patient ?? text("reports.no-patient");
  const press = (event: React.MouseEvent) => {
    const onBox = event.target instanceof HTMLElement && event.target.closest("[data-choice]") !== null;
    onPress(event.shiftKey ? "range" : onBox || event.ctrlKey || event.metaKey ? "choose" : "open");
  };
  return (
    // The grid has the focus and the keys; a row only takes the pointer.
    // oxlint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/interactive-supports-focus
    <div
      id={`report-${row.id}`}
      role="row"
      aria-rowindex={index + 2}
      aria-selected={isChosen}
      aria-current={isOpen ? "true" : undefined}
      className={`${css.row} ${isFocused ? css.focused : ""}`}
      style={{ transform: `translateY(${top}px)` }}
      onClick={press}
      data-testid="report-row"
      data-state={row.state}
      data-id={row.id}
    >
      <Turned state={row.state} />
      <span role="gridcell" className={css.choice} data-choice data-testid="choose-row">
        <span className={css.box}>{isChosen && <Check aria-hidden size={13} />}</span>
      </span>
      <span role="gridcell" className={css.disease}>
        <Subject about={row} otherwise={row.file} />
        <span className={css.state} title={said ?? undefined}>
          <span className={css.facts} data-facts>
            <StateLabel state={row.state} size={15} />
            <Destination of={destination} />
            {row.due && <Deadline due={row.due} isShort />}
            {row.draft && <DraftMark />}
          </span>
          {said && <span className={css.message}>{said}</span>}
        </span>
      </span>
      <span role="gridcell" className={css.patient} title={patient}>
        {patient}
      </span>
      <span role="gridcell" className={css.laboratory}>
        <span title={row.laboratory ?? undefined}>{row.laboratory}</span>
        <span className={css.second} title={row.file}>
          {row.file}
        </span>
      </span>
      <span role="gridcell" className={css.updated}>
        <span>{format.moment(row.updated)}</span>
      </span>
    </div>
  );
}

/** Its new colour, for a moment, below the words of a row whose state changes in sight. One that only comes into sight
 *  has not turned. */
function Turned({ state }: { state: State }) {
  const [known, setKnown] = useState({ state, turns: 0 });
  if (known.state !== state) setKnown({ state, turns: known.turns + 1 });
  // By its key it begins anew, also where the colour is that of the state before.
  return (
    known.turns > 0 && (
      <span key={known.turns} aria-hidden className={`${css.turned} ${css[toneOf(state)]}`} data-testid="turned" />
    )
  );
}

/** New rows never move the reader: away from the top they wait until they are asked for. */
function useStill(all: RowView[], sorted: boolean, scroller: React.RefObject<HTMLDivElement | null>) {
  const [newest, setNewest] = useState<number | null>(null);
  const top = all[0]?.id ?? null;
  useEffect(() => {
    const element = scroller.current;
    if (!element) return undefined;
    const scroll = () => setNewest((known) => (element.scrollTop < rowHeight() / 2 ? null : (known ?? top)));
    element.addEventListener("scroll", scroll, { passive: true });
    return () => element.removeEventListener("scroll", scroll);
  }, [scroller, top]);
  const rows = newest === null || sorted ? all : all.filter((row) => row.id <= newest);
  return {
    rows,
    fresh: all.length - rows.length,
    showFresh() {
      setNewest(null);
      scroller.current?.scrollTo({ top: 0 });
    },
  };
}
