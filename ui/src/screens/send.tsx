// Send: choose or drop, look at the findings, send, take back for ten seconds.

import {
  ClipboardPaste,
  FilePlus2,
  FileStack,
  FlaskConical,
  FolderPlus,
  LockKeyhole,
  Send as SendIcon,
  X,
} from "lucide-react";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import type { Dispatch, SetStateAction } from "react";

import { door } from "#door";

import { useStatus } from "../bridge/queries";
import { useText } from "../i18n/text";
import { questions, repeated, rivals, tally, twins, useIntake } from "../intake";
import type { CandidateView } from "../bridge/generated/CandidateView";
import type { Source } from "../intake";
import { Checklist } from "../parts/checklist";
import { closedOf } from "../parts/closed";
import { Button, Switch } from "../kit/controls";
import { isDialogOpen } from "../kit/dialog";
import { ProblemNote } from "../kit/notes";
import screen from "../kit/screen.module.css";
import { Common, Found, nameOf } from "../parts/send-list";
import { say, sayProblem } from "../kit/toasts";
import { OpenVault } from "../parts/vault";
import { LeftLying } from "../parts/watched";
import { useWindow } from "../place";
import { useSend } from "../sending";
import { sharedWarnings } from "../shared-warnings";
import { PasteDialog } from "./paste";
import css from "./send.module.css";

/** `onCertificate` opens the import of a file that turns out to be a certificate. */
export function Send({ onCertificate }: { onCertificate: (path: string) => void }) {
  const text = useText();
  const status = useStatus();
  const intake = useIntake();
  const [again, setAgain] = useState<ReadonlySet<string>>(new Set());
  /** Digests of what goes beside a report with the same identifier, because somebody has said that it is another one. */
  const [beside, setBeside] = useState<ReadonlySet<string>>(new Set());
  const [pasting, setPasting] = useState(false);
  const chooser = useChooser();
  const asked = useMemo(() => questions(intake.sources), [intake.sources]);
  const count = tally(intake.sources, beside, asked);
  const [separate, setSeparate] = useState(false);
  const { send, isPending } = useSend({ again, setAgain, beside, separate, setSeparate });
  const closed = closedOf(status.data);
  const [opening, setOpening] = useState(false);
  const total = count.send + repeated(intake.sources.filter(({ path }) => again.has(path))).length;
  // Somebody has removed the authority that was in use.
  const isNowhere = status.data?.endpoint === "" && !closed;
  const ready = !closed && !isNowhere && total + count.correction > 0 && count.looking === 0 && !isPending;
  const [rivalsHere, twinsHere] = useMemo(() => [rivals(intake.sources), twins(intake.sources)], [intake.sources]);
  const shared = useMemo(() => sharedWarnings(intake.sources), [intake.sources]);
  const paste = usePasted();
  usePaste(paste);
  useNamedAgain(intake.sources, setAgain);
  const clear = () => {
    const { sources, putBack } = intake;
    intake.clear();
    say({ tone: "done", title: text("send.cleared", { n: sources.length }), undo: () => putBack(sources) });
  };
  // In a dialog the key is that of the dialog.
  useSendKey(() => ready && !isDialogOpen() && send());

  const practice = status.data?.environment === "practice" && !closed;
  const empty = intake.sources.length === 0;
  return (
    <>
      <header className={screen.header}>
        <h1>{text("nav.send")}</h1>
        {!empty && (
          <div className={screen.tools}>
            <Button icon={FilePlus2} onPress={chooser.files} data-testid="choose-files">
              {text("send.choose-files")}
            </Button>
            <Button icon={FolderPlus} onPress={chooser.folder}>
              {text("send.choose-folder")}
            </Button>
            <Button icon={ClipboardPaste} onPress={() => setPasting(true)} data-testid="paste-text">
              {text("send.paste")}
            </Button>
            <Button tone="quiet" icon={X} onPress={clear} data-testid="send-clear">
              {text("send.clear")}
            </Button>
          </div>
        )}
      </header>
      <div className={screen.body}>
        {empty && !closed && <LeftLying />}
        {empty && !closed && status.data && <Checklist status={status.data} samples={chooser.samples} />}
        {empty ? (
          <section className={css.drop} aria-labelledby="drop-title">
            <FileStack aria-hidden size={44} strokeWidth={1.2} />
            <h2 id="drop-title">{text("send.empty")}</h2>
            <p>{text("send.empty.more")}</p>
            <div className={css.choices}>
              <Button tone="primary" icon={FilePlus2} onPress={chooser.files} data-testid="choose-files">
                {text("send.choose-files")}
              </Button>
              <Button icon={FolderPlus} onPress={chooser.folder}>
                {text("send.choose-folder")}
              </Button>
              <Button icon={ClipboardPaste} onPress={() => setPasting(true)} data-testid="paste-text">
                {text("send.paste")}
              </Button>
              {practice && (
                <Button icon={FlaskConical} onPress={chooser.samples} data-testid="send-samples">
                  {text("send.samples")}
                </Button>
              )}
            </div>
            <p className={css.hint}>{text("send.empty.formats")}</p>
          </section>
        ) : (
          <>
            <Common
              sources={intake.sources}
              separate={separate}
              onSeparate={setSeparate}
              again={again}
              onAgain={(paths, on) => setAgain((set) => paths.reduce((all, path) => changed(all, path, on), set))}
              shared={shared}
            />
            <ul className={css.candidates} aria-label={text("send.list")}>
              {urgentFirst(intake.sources, asked).map((source) =>
                source.problem ? (
                  <li key={source.path}>
                    <ProblemNote problem={source.problem} />
                  </li>
                ) : source.found === undefined ? (
                  <li key={source.path} className={css.looking}>
                    {text("send.looking", { file: nameOf(source) })}
                  </li>
                ) : (
                  <Found
                    key={source.path}
                    source={source}
                    separate={separate}
                    again={again.has(source.path)}
                    onAgain={(on) => setAgain((set) => changed(set, source.path, on))}
                    beside={beside}
                    asked={asked}
                    rivals={rivalsHere}
                    twins={twinsHere}
                    onBeside={(digest, on) => setBeside((set) => changed(set, digest, on))}
                    shared={shared}
                    onCertificate={onCertificate}
                  />
                ),
              )}
            </ul>
          </>
        )}
      </div>
      {!empty && (
        <footer className={css.footer} data-keeps-clear>
          <p className={css.sum}>
            {count.looking > 0
              ? text("send.looking-at", { n: count.looking })
              : closed
                ? text(`closed.${closed}.send`)
                : isNowhere
                  ? text("send.no-endpoint")
                  : text("send.sum", {
                      twice: count.twice,
                      known: count.known,
                      refused: count.refused,
                      unreadable: count.unreadable,
                      asked: count.asked,
                    })}
          </p>
          <Masked />
          {closed === "sealed" ? (
            <Button tone="primary" icon={LockKeyhole} onPress={() => setOpening(true)} data-testid="send-open">
              {text("closed.sealed.enter")}
            </Button>
          ) : (
            <Button tone="primary" icon={SendIcon} isDisabled={!ready} onPress={send} data-testid="send-button">
              {text("send.button", { n: total, correction: count.correction })}
            </Button>
          )}
        </footer>
      )}
      {!closed && !isNowhere && <Said sources={intake.sources} beside={beside} total={total} />}
      {opening && closed === "sealed" && <OpenVault onClose={() => setOpening(false)} />}
      {pasting && <PasteDialog onPaste={paste} onClose={() => setPasting(false)} />}
    </>
  );
}

/** Said once for each phase, how many are looked at and then what came of it; a countdown that is read aloud drowns
 *  everything else. It is there before the list is, because what comes with its words is not read. */
function Said({ sources, beside, total }: { sources: Source[]; beside: ReadonlySet<string>; total: number }) {
  const text = useText();
  const { looking, ...count } = tally(sources, beside);
  /** Files that were looked at when looking began. */
  const [begun, setBegun] = useState(0);
  if (looking > 0 !== begun > 0) setBegun(looking);
  const words =
    sources.length === 0
      ? []
      : looking > 0
        ? [text("send.looking-at", { n: begun })]
        : [text("send.said.looked", { n: total, correction: count.correction }), text("send.sum", count)];
  return (
    <p role="status" className="visually-hidden" data-testid="send-said">
      {words.join(" ").trim()}
    </p>
  );
}

/** Problems first: files that are no reports, then what needs correction; among equals the order of choice. */
function urgentFirst(sources: Source[], asked: ReadonlySet<CandidateView>): Source[] {
  const rank = (source: Source) => {
    const verdicts = new Set(source.found?.map((view) => view.verdict));
    if (source.problem || verdicts.has("refused")) return 0;
    if (verdicts.has("errors") || source.found?.some((view) => asked.has(view))) return 1;
    return source.found?.some((view) => view.corrects) ? 2 : 3;
  };
  return sources.toSorted((a, b) => rank(a) - rank(b));
}

/** Whoever names a file or folder again has not asked yet that what is known of it goes once more. */
function useNamedAgain(sources: Source[], setAgain: Dispatch<SetStateAction<ReadonlySet<string>>>): void {
  const named = useRef(new Map<string, number>());
  useEffect(() => {
    const before = named.current;
    named.current = new Map(sources.map(({ path, chosen }) => [path, chosen]));
    const anew = new Set(
      sources.filter(({ path, chosen }) => before.has(path) && before.get(path) !== chosen).map(({ path }) => path),
    );
    if (anew.size > 0) setAgain((now) => new Set([...now].filter((path) => !anew.has(path))));
  }, [sources, setAgain]);
}

/** Says whether names are masked, and changes it, as the switch in the rail does. */
function Masked() {
  const text = useText();
  const { reveal, setReveal } = useWindow();
  return (
    <span className={css.masked} data-testid="send-masked">
      <Switch isSelected={!reveal} onChange={(on) => setReveal(!on)}>
        {text("send.masked")}
      </Switch>
    </span>
  );
}

function changed(set: ReadonlySet<string>, path: string, on: boolean): ReadonlySet<string> {
  const next = new Set(set);
  if (on) next.add(path);
  else next.delete(path);
  return next;
}

export function useChooser() {
  const text = useText();
  const intake = useIntake();
  const chosen = (paths: Promise<string[]>) => void paths.then(intake.choose, sayProblem(text));
  return {
    files: () => chosen(door.call("choose_files", { purpose: "reports" })),
    folder: () =>
      chosen(door.call("choose_folder", { purpose: "reports" }).then((path) => (path === null ? [] : [path]))),
    samples: () => chosen(door.call("practice_samples")),
  };
}

/** A pasted text becomes a row as a file does; nothing is sent by it. */
function usePasted(): (pasted: string) => void {
  const text = useText();
  const intake = useIntake();
  const n = intake.sources.filter((source) => source.pasted).length + 1;
  return (pasted) => intake.paste({ name: text("paste.name", { n }), text: pasted });
}

function usePaste(onText: (text: string) => void): void {
  const latest = useRef(onText);
  useEffect(() => {
    latest.current = onText;
  });
  useEffect(() => {
    const paste = (event: ClipboardEvent) => {
      if (event.target instanceof HTMLElement && event.target.closest("input, textarea")) return;
      const pasted = event.clipboardData?.getData("text/plain");
      if (pasted?.trim() && !isDialogOpen()) latest.current(pasted);
    };
    document.addEventListener("paste", paste);
    return () => document.removeEventListener("paste", paste);
  }, []);
}

function useSendKey(send: () => void): void {
  useLayoutEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) send();
    };
    document.addEventListener("keydown", press);
    return () => document.removeEventListener("keydown", press);
  });
}
