// What a restore has lost with its content: named until it is handed over again or found, whatever has been read meanwhile.

import { useLostReports } from "../bridge/queries";
import { useFormat, useText } from "../i18n/text";
import css from "./lost.module.css";
import { Notice } from "./notes";

export function LostReports() {
  const text = useText();
  const format = useFormat();
  const lost = useLostReports().data ?? [];
  if (lost.length === 0) return null;
  const n = lost.length;
  return (
    <div data-testid="lost-reports">
      <Notice tone="attention" title={text("lost.title", { n })}>
        <p>{text("lost.more", { n })}</p>
        <ul className={`${css.list} selectable`}>
          {lost.map(({ file, at, endpoint }, place) => (
            <li key={place}>
              <b>{file || text("lost.nameless")}</b> <span>{text("lost.from", { when: format.moment(at), endpoint })}</span>
            </li>
          ))}
        </ul>
      </Notice>
    </div>
  );
}
