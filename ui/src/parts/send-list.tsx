// The list of Send: what was found in each source, and what many of its files have in common, said once.

import { sharedKey, sentenceOfShared } from "../shared-warnings";
import type { Shared } from "../shared-warnings";
import type { CandidateView } from "../bridge/generated/CandidateView";
import { useText } from "../i18n/text";
import { repeated, useIntake } from "../intake";
import type { Source } from "../intake";
import { CandidateRow } from "./candidate";
import { CertificateButton } from "./certificate-button";
import { Button, Switch } from "../kit/controls";
import { Notice } from "../kit/notes";
import { say } from "../kit/toasts";
import { useWindow } from "../place";

interface FoundProps {
  source: Source;
  separate: boolean;
  again: boolean;
  onAgain: (on: boolean) => void;
  beside: ReadonlySet<string>;
  onBeside: (digest: string, on: boolean) => void;
  /** What goes only where somebody has decided so. */
  asked: ReadonlySet<CandidateView>;
  /** Those with the identifier of another one on the list. */
  rivals: ReadonlyMap<CandidateView, CandidateView>;
  /** What is on the list above it already. */
  twins: ReadonlySet<CandidateView>;
  /** Warnings that are said once for all. */
  shared: ReadonlyMap<string, Shared>;
  onCertificate: (path: string) => void;
}

/** What was found in a source. It goes again as a whole: where that is more than one report, one switch says how many. */
export function Found(props: FoundProps) {
  const { source, separate, again, onAgain, beside, onBeside, asked, rivals, twins, shared, onCertificate } = props;
  const text = useText();
  const intake = useIntake();
  const [only, ...others] = repeated([source]);
  const found = source.found ?? [];
  const leaveOut = ({ digest }: CandidateView) => {
    // What has no content of its own cannot be told from what lies beside it.
    if (found.length > 1 && !digest) return undefined;
    return () => {
      intake.leaveOut(source.path, found.length > 1 ? digest : undefined);
      say({ tone: "done", title: text("send.cleared", { n: 1 }), undo: () => intake.restore(source) });
    };
  };
  return (
    <>
      {others.length > 0 && (
        <li>
          <Switch isSelected={again} onChange={onAgain}>
            {text("send.again.all", { n: others.length + 1, file: nameOf(source) })}
          </Switch>
        </li>
      )}
      {found.map((view, at) => (
        <CandidateRow
          key={at}
          view={view}
          separate={separate}
          again={again}
          isPlain={view.verdict === "warnings" && view.messages.every((message) => shared.has(sharedKey(message)))}
          onAgain={others.length === 0 && view === only ? onAgain : undefined}
          isTwin={twins.has(view)}
          beside={beside.has(view.digest)}
          rival={rivals.get(view)?.file}
          onBeside={asked.has(view) && !twins.has(view) ? (on) => onBeside(view.digest, on) : undefined}
          certificate={
            view.kind === "certificate" &&
            found.length === 1 &&
            !source.pasted && <CertificateButton path={source.path} onImport={() => onCertificate(source.path)} />
          }
          onLeaveOut={leaveOut(view)}
        />
      ))}
    </>
  );
}

export const nameOf = ({ pasted, path }: Source) => pasted?.name ?? path.split(/[/\\]/).findLast(Boolean) ?? path;

/** What many files have in common, said once; and one switch for all files that correct reports, or are known. */
export function Common(props: {
  sources: Source[];
  separate: boolean;
  onSeparate: (on: boolean) => void;
  again: ReadonlySet<string>;
  onAgain: (paths: string[], on: boolean) => void;
  shared: ReadonlyMap<string, Shared>;
}) {
  const { sources, separate, onSeparate, again, onAgain, shared } = props;
  const text = useText();
  const { go } = useWindow();
  const found = sources.flatMap((source) => source.found ?? []);
  const corrections = found.filter((view) => view.corrects?.possible && view.verdict !== "known").length;
  const known = found.filter((view) => view.verdict === "known").length;
  const held = found.filter((view) => view.verdict === "known" && view.knownState === "held").length;
  const bad = found.filter((view) => view.verdict === "refused" || view.verdict === "errors").length;
  const repeatable = sources.filter((source) => repeated([source]).length > 0);
  const more = repeated(repeatable).length;
  return (
    <>
      {bad > 0 && found.length > bad && <Notice tone="attention" title={text("send.bad-first", { n: bad })} />}
      {[...shared].map(([key, { message, n }]) => (
        <Notice key={key} tone="caution" title={sentenceOfShared(text, message, n)} data-testid="send-shared" />
      ))}
      {known > 1 && (
        <Notice
          tone="quiet"
          title={text(more > 0 ? "send.known.many" : "send.known.all", { n: known })}
          actions={
            <>
              {held > 0 && (
                <Button onPress={() => go({ screen: "correct", open: null })} data-testid="known-on-hold">
                  {text("send.known.held", { n: held })}
                </Button>
              )}
              {repeatable.length > 1 && (
                <Switch
                  isSelected={repeatable.every(({ path }) => again.has(path))}
                  onChange={(on) =>
                    onAgain(
                      repeatable.map(({ path }) => path),
                      on,
                    )
                  }
                >
                  {text("send.known.again", { n: more })}
                </Switch>
              )}
            </>
          }
        />
      )}
      {corrections > 0 && (
        <Notice
          tone="progress"
          title={text(separate ? "send.separate.many" : "send.corrects.many", { n: corrections })}
          actions={
            <Switch isSelected={separate} onChange={onSeparate}>
              {text("send.separate.switch")}
            </Switch>
          }
        >
          {text(separate ? "send.separate.more" : "send.corrects.more")}
        </Notice>
      )}
    </>
  );
}
