// What differs, line by line, as it will leave.

import type { ChangeView } from "../bridge/generated/ChangeView";
import { useText } from "../i18n/text";
import css from "./difference.module.css";
import { useVeil } from "./veil";

/** Length of a line that is shown while names are hidden. */
const LINE_MAX = 160;

export function Difference({ changes, changed, max }: { changes: ChangeView[]; changed: number; max: number }) {
  const text = useText();
  const { isHidden, hide } = useVeil();
  // A report of one long line would stand here whole.
  const said = (line: string) => (isHidden && line.length > LINE_MAX ? "…" : hide(line));
  const shown = changes.slice(0, max);
  return (
    <ul className={`${css.changes} selectable`} data-testid="difference">
      {shown.map((change) => (
        <li key={`${change.line}-${change.removed}-${change.added}`}>
          <span className={css.line}>{text("correct.line", { line: change.line })}</span>
          <span className={css.pair}>
            {change.removed !== null && (
              <del>
                <span aria-hidden>− </span>
                {said(change.removed)}
              </del>
            )}
            {change.added !== null && (
              <ins>
                <span aria-hidden>+ </span>
                {said(change.added)}
              </ins>
            )}
          </span>
        </li>
      ))}
      {changed > shown.length && <li>{text("correct.more-changes", { n: changed - shown.length })}</li>}
    </ul>
  );
}
