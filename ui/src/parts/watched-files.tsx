// The files of the watched folder: those that cannot be sent, each with why and what to do, and the last reports that
// came from it.

import { Eye } from "lucide-react";
import { useEffect, useRef } from "react";

import type { RefusedFileView } from "../bridge/generated/RefusedFileView";
import { useWatchedFiles } from "../bridge/queries";
import { useCodeText, useFormat, useText } from "../i18n/text";
import { Button } from "../kit/controls";
import { ReadProblem } from "../kit/notes";
import { showInside } from "../kit/scroll";
import { useWindow } from "../place";
import { helpOf, shownSentence } from "./said";
import { StateLabel } from "./state";
import css from "./watched-files.module.css";

export function WatchedFiles() {
  const text = useText();
  const format = useFormat();
  const words = useCodeText();
  const { reveal, setReveal, go, place } = useWindow();
  const read = useWatchedFiles(reveal);
  const files = read.data;
  // Whoever comes from the notice about them wants to see them.
  const first = useRef<HTMLDetailsElement>(null);
  const isAsked = place.screen === "settings" && place.files === true && files !== undefined;
  useEffect(() => {
    if (isAsked) showInside(first.current);
  }, [isAsked]);
  if (!files) return <ReadProblem of={read} />;
  const { refused, refusedCount, taken } = files;
  const rest = refusedCount - refused.length;
  return (
    <>
      {refusedCount > 0 && (
        <details ref={first} className={css.part} open data-testid="watched-refused">
          <summary>{text("watch.refused", { n: refusedCount })}</summary>
          <p>{words("remedy", "mend-file")}</p>
          {!reveal && (
            <div className={css.names}>
              <Button icon={Eye} onPress={() => setReveal(true)} data-testid="watched-names">
                {text("reports.show-names")}
              </Button>
            </div>
          )}
          <ul className={`${css.list} selectable`} tabIndex={0} aria-label={text("watch.refused", { n: refusedCount })}>
            {refused.map((file, place) => (
              <Refused key={place} file={file} />
            ))}
            {rest > 0 && <li>{text("watch.refused.rest", { n: rest })}</li>}
          </ul>
        </details>
      )}
      {taken.length > 0 && (
        <details className={css.part} open={refusedCount === 0} data-testid="watched-taken">
          <summary>{text("watch.taken")}</summary>
          <ul className={`${css.list} selectable`}>
            {taken.map(({ id, file, at, state }) => (
              <li key={id}>
                <div className={css.line}>
                  <b>{file}</b>
                  <span className={css.when}>{text("watch.taken.at", { when: format.at(at) })}</span>
                  <StateLabel state={state} />
                  <Button tone="quiet" onPress={() => go({ screen: "reports", group: null, open: id })}>
                    {text("send.known.show")}
                  </Button>
                </div>
              </li>
            ))}
          </ul>
        </details>
      )}
    </>
  );
}

function Refused({ file: { file, changed, message } }: { file: RefusedFileView }) {
  const text = useText();
  const format = useFormat();
  const { reveal } = useWindow();
  const help = helpOf(text, message);
  return (
    <li>
      <div className={css.line}>
        <b>{file}</b>
        {changed !== null && (
          <span className={css.when}>{text("watch.refused.changed", { when: format.at(changed) })}</span>
        )}
      </div>
      <p>{shownSentence(text, message, !reveal)}</p>
      {help && <p className={css.help}>{help}</p>}
    </li>
  );
}
