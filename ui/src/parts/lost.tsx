// What a restore has lost with its content: named until it is handed over again or found, whatever has been read meanwhile.

import { Eye } from "lucide-react";

import { useLostReports } from "../bridge/queries";
import { endpointName, useFormat, useText } from "../i18n/text";
import { useWindow } from "../place";
import { Button } from "../kit/controls";
import css from "./lost.module.css";
import { Notice, ReadProblem } from "../kit/notes";

export function LostReports() {
  const text = useText();
  const format = useFormat();
  const { reveal, setReveal } = useWindow();
  const read = useLostReports(reveal);
  const lost = read.data;
  // What is lost must not be hidden because it cannot be read just now.
  if (!lost) return <ReadProblem of={read} />;
  if (lost.total === 0) return null;
  const n = lost.total;
  const rest = n - lost.newest.length;
  const show = !reveal && (
    <Button tone="quiet" icon={Eye} onPress={() => setReveal(true)}>
      {text("reports.show-names")}
    </Button>
  );
  return (
    <div data-testid="lost-reports">
      <Notice tone="attention" title={text("lost.title", { n })} actions={show}>
        <p>{text("lost.more", { n })}</p>
        {!reveal && <p>{text("lost.masked")}</p>}
        <ul className={`${css.list} selectable`}>
          {lost.newest.map(({ file, at, endpoint }, place) => (
            <li key={place}>
              <b>{file || text("lost.nameless")}</b>{" "}
              <span>{text("lost.from", { when: format.moment(at), endpoint: endpointName(text, endpoint) })}</span>
            </li>
          ))}
          {rest > 0 && <li>{text("lost.rest", { n: rest })}</li>}
        </ul>
      </Notice>
    </div>
  );
}
