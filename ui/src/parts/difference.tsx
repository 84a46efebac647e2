// What differs, line by line, as it will leave.

import type { ChangeView } from "../bridge/generated/ChangeView";
import { useText } from "../i18n/text";
import css from "./difference.module.css";

export function Difference({ changes, changed, max }: { changes: ChangeView[]; changed: number; max: number }) {
  const text = useText();
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
                {change.removed}
              </del>
            )}
            {change.added !== null && (
              <ins>
                <span aria-hidden>+ </span>
                {change.added}
              </ins>
            )}
          </span>
        </li>
      ))}
      {changed > shown.length && <li>{text("correct.more-changes", { n: changed - shown.length })}</li>}
    </ul>
  );
}
