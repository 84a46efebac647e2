// Why reports of a cause are on hold, and what is to be done with them next.

import { CirclePause } from "lucide-react";

import type { RowView } from "../bridge/generated/RowView";
import { isTakenBack } from "../causes";
import { useText } from "../i18n/text";
import css from "./on-hold.module.css";
import { mayBeThere } from "./held";

const KINDS = ["correction", "repetition", "new", "found", "stopped"] as const;

/** A report that the authority may have says so itself, with what to do. */
function kindOf(row: RowView): (typeof KINDS)[number] | undefined {
  const { state, message, errors, takenBack } = row;
  if (state !== "held" || mayBeThere(message)) return undefined;
  if (isTakenBack(row) && takenBack) return takenBack;
  if (!message) return "stopped";
  return errors > 0 && message.source !== "authority" ? "found" : undefined;
}

export function OnHold({ rows }: { rows: RowView[] }) {
  const text = useText();
  const kinds = rows.map(kindOf);
  return KINDS.map((kind) => {
    const n = kinds.filter((one) => one === kind).length;
    return (
      n > 0 && (
        <p key={kind} className={`${css.why} selectable`} data-testid="on-hold">
          <CirclePause aria-hidden size={16} />
          <span>{text(`on-hold.${kind}`, { n })}</span>
        </p>
      )
    );
  });
}

/** How many of them were taken back before they left, in few words. */
export function TakenBackMark({ rows }: { rows: RowView[] }) {
  const text = useText();
  const n = rows.filter(isTakenBack).length;
  return n > 0 && <span data-testid="taken-back-mark">{text("on-hold.back", { n })}</span>;
}
