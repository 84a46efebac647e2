// The list of reports: our own ARIA grid over a virtualiser, so that a million rows paint like ten.
// One focus for the whole grid (aria-activedescendant); rows come and go beneath it.

import { ArrowUp, MessageSquareWarning } from "lucide-react";
import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useRef, useState } from "react";

import type { RowView } from "../bridge/generated/RowView";
import { useFormat, useText } from "../i18n/text";
import { Button } from "./controls";
import { sentenceOf } from "./said";
import css from "./report-list.module.css";
import { StateLabel } from "./state";
import { Subject } from "./subject";

/** Height of a row, in sizes of text; the style sheet has the same. */
const rowHeight = () => {
  const root = document.documentElement;
  return parseFloat(getComputedStyle(root).fontSize || "16") * (root.dataset.density === "compact" ? 3 : 3.75);
};
/** Rows before the end at which the next page is asked for. */
const AHEAD = 40;

interface Props {
  rows: RowView[];
  total: number;
  focus: number | null;
  open: number | null;
  onOpen: (id: number) => void;
  onFocus: (id: number) => void;
  onEnd: () => void;
}

export function ReportList({ rows: all, total, focus, open, onOpen, onFocus, onEnd }: Props) {
  const text = useText();
  const scroller = useRef<HTMLDivElement>(null);
  const { rows, fresh, showFresh } = useStill(all, scroller);
  // Once for each drawing: asked for each of a million rows it would be the whole work.
  const height = rowHeight();
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => height,
    getItemKey: (at) => rows[at]?.id ?? at,
    overscan: 8,
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
        aria-rowcount={total}
        aria-colcount={4}
        aria-activedescendant={at >= 0 ? `report-${focus}` : undefined}
        data-testid="report-list"
      >
        <div role="rowgroup" className={css.canvas} style={{ height: virtual.getTotalSize() }}>
          {items.map((item) => {
            const row = rows[item.index];
            return (
              row && (
                <Row
                  key={item.key}
                  row={row}
                  index={item.index}
                  top={item.start}
                  isFocused={row.id === focus}
                  isOpen={row.id === open}
                  onPress={() => {
                    onFocus(row.id);
                    onOpen(row.id);
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

function Row(props: {
  row: RowView;
  index: number;
  top: number;
  isFocused: boolean;
  isOpen: boolean;
  onPress: () => void;
}) {
  const { row, index, top, isFocused, isOpen, onPress } = props;
  const text = useText();
  const format = useFormat();
  return (
    // The grid has the focus and the keys; a row only takes the pointer.
    // oxlint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/interactive-supports-focus
    <div
      id={`report-${row.id}`}
      role="row"
      aria-rowindex={index + 1}
      aria-selected={isOpen}
      className={`${css.row} ${isFocused ? css.focused : ""}`}
      style={{ transform: `translateY(${top}px)` }}
      onClick={onPress}
      data-testid="report-row"
      data-state={row.state}
      data-id={row.id}
    >
      <span role="gridcell" className={css.state}>
        <StateLabel state={row.state} />
      </span>
      <span role="gridcell" className={css.what}>
        <Subject about={row} otherwise={row.file} />
        <span className={css.second}>{row.patient ?? text("reports.no-patient")}</span>
      </span>
      <span role="gridcell" className={css.message}>
        {row.message ? (
          <>
            <MessageSquareWarning aria-hidden size={14} />
            <span>{sentenceOf(text, row.message)}</span>
          </>
        ) : (
          <span className={css.file}>{row.file}</span>
        )}
      </span>
      <span role="gridcell" className={css.when}>
        <span>{format.moment(row.updated)}</span>
        {row.environment !== "production" && (
          <span className={css.environment}>{text.code(`environment.${row.environment}`) ?? row.environment}</span>
        )}
      </span>
    </div>
  );
}

/** New rows never move the reader: away from the top they wait until they are asked for. */
function useStill(all: RowView[], scroller: React.RefObject<HTMLDivElement | null>) {
  const [newest, setNewest] = useState<number | null>(null);
  const top = all[0]?.id ?? null;
  useEffect(() => {
    const element = scroller.current;
    if (!element) return undefined;
    const scroll = () => setNewest((known) => (element.scrollTop < rowHeight() / 2 ? null : (known ?? top)));
    element.addEventListener("scroll", scroll, { passive: true });
    return () => element.removeEventListener("scroll", scroll);
  }, [scroller, top]);
  const rows = newest === null ? all : all.filter((row) => row.id <= newest);
  return {
    rows,
    fresh: all.length - rows.length,
    showFresh() {
      setNewest(null);
      scroller.current?.scrollTo({ top: 0 });
    },
  };
}
