// Send: choose or drop, look at the findings, send, take back for ten seconds.

import { ClipboardPaste, EyeOff, FilePlus2, FileStack, FlaskConical, FolderPlus, Send as SendIcon, X } from "lucide-react";
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import type { Dispatch, SetStateAction } from "react";

import { door } from "#door";

import type { HandedList } from "../bridge/door";
import type { CandidateView } from "../bridge/generated/CandidateView";
import type { IntakeView } from "../bridge/generated/IntakeView";
import type { StatusView } from "../bridge/generated/StatusView";
import { followJournal, useStatus } from "../bridge/queries";
import { useText } from "../i18n/text";
import { isToGo, leftOf, repeated, tally, useIntake } from "../intake";
import type { Source } from "../intake";
import { CandidateRow } from "../parts/candidate";
import { Checklist } from "../parts/checklist";
import { Button, Switch } from "../parts/controls";
import { isDialogOpen } from "../parts/dialog";
import { Notice, ProblemNote } from "../parts/notes";
import screen from "../parts/screen.module.css";
import { say, sayProblem } from "../parts/toasts";
import { LeftLying } from "../parts/watched";
import { useWindow } from "../place";
import { PasteDialog } from "./paste";
import css from "./send.module.css";

export function Send() {
  const text = useText();
  const status = useStatus();
  const intake = useIntake();
  const [again, setAgain] = useState<ReadonlySet<string>>(new Set());
  const [pasting, setPasting] = useState(false);
  const chooser = useChooser();
  const count = tally(intake.sources);
  const [separate, setSeparate] = useState(false);
  const { send, isPending } = useSend({ again, setAgain, separate, setSeparate });
  const total = count.send + repeated(intake.sources.filter(({ path }) => again.has(path))).length;
  const ready = total > 0 && count.looking === 0 && !isPending;
  const paste = usePasted();
  usePaste(paste);
  useNamedAgain(intake.sources, setAgain);
  // In a dialog the key is that of the dialog.
  useSendKey(() => ready && !isDialogOpen() && send());

  const practice = status.data?.environment === "practice";
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
            <Button tone="quiet" icon={X} onPress={intake.clear}>
              {text("send.clear")}
            </Button>
          </div>
        )}
      </header>
      <div className={`${screen.body} ${css.body}`}>
        {empty && <LeftLying />}
        {empty && status.data && <Checklist status={status.data} samples={chooser.samples} />}
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
          <Common sources={intake.sources} separate={separate} onSeparate={setSeparate} />
          <ul className={css.candidates} aria-label={text("send.list")}>
            {urgentFirst(intake.sources).map((source) =>
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
                />
              ),
            )}
          </ul>
          </>
        )}
      </div>
      {!empty && (
        <footer className={css.footer} data-keeps-clear>
          <p className={css.sum} aria-live="polite">
            {count.looking > 0
              ? text("send.looking-at", { n: count.looking })
              : text("send.sum", { known: count.known, refused: count.refused })}
          </p>
          <Masked />
          <Button tone="primary" icon={SendIcon} isDisabled={!ready} onPress={send} data-testid="send-button">
            {text("send.button", { n: total, correction: count.correction })}
          </Button>
        </footer>
      )}
      {pasting && <PasteDialog onPaste={paste} onClose={() => setPasting(false)} />}
    </>
  );
}

/** What was found in a source. It goes again as a whole: where that is more than one report, one switch says how many. */
function Found(props: { source: Source; separate: boolean; again: boolean; onAgain: (on: boolean) => void }) {
  const { source, separate, again, onAgain } = props;
  const text = useText();
  const intake = useIntake();
  const [only, ...others] = repeated([source]);
  const found = source.found ?? [];
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
          onAgain={others.length === 0 && view === only ? onAgain : undefined}
          onLeaveOut={found.length === 1 ? () => intake.leaveOut(source.path) : undefined}
        />
      ))}
    </>
  );
}

const nameOf = ({ pasted, path }: Source) => pasted?.name ?? path.split(/[/\\]/).findLast(Boolean) ?? path;

/** What many files have in common, said once; and one switch for all files that correct reports. */
function Common(props: { sources: Source[]; separate: boolean; onSeparate: (on: boolean) => void }) {
  const { sources, separate, onSeparate } = props;
  const text = useText();
  const found = sources.flatMap((source) => source.found ?? []);
  const corrections = found.filter((view) => view.corrects?.possible && view.verdict !== "known").length;
  const known = found.filter((view) => view.verdict === "known").length;
  const bad = found.filter((view) => view.verdict === "refused" || view.verdict === "errors").length;
  return (
    <>
      {bad > 0 && found.length > bad && <Notice tone="attention" title={text("send.bad-first", { n: bad })} />}
      {known > 1 && <Notice tone="quiet" title={text("send.known.many", { n: known })} />}
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

/** Problems first: files that are no reports, then what needs correction; among equals the order of choice. */
function urgentFirst(sources: Source[]): Source[] {
  const rank = (source: Source) => {
    const verdicts = new Set(source.found?.map((view) => view.verdict));
    if (source.problem || verdicts.has("refused")) return 0;
    if (verdicts.has("errors")) return 1;
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
    const anew = new Set(sources.filter(({ path, chosen }) => before.has(path) && before.get(path) !== chosen).map(({ path }) => path));
    if (anew.size > 0) setAgain((now) => new Set([...now].filter((path) => !anew.has(path))));
  }, [sources, setAgain]);
}

/** Says that names are masked; the switch in the rail shows them. */
function Masked() {
  const text = useText();
  const { reveal } = useWindow();
  if (reveal) return null;
  return (
    <span className={css.masked}>
      <EyeOff aria-hidden size={15} />
      {text("send.masked")}
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
    folder: () => chosen(door.call("choose_folder").then((path) => (path === null ? [] : [path]))),
    samples: () => chosen(door.call("practice_samples")),
  };
}

interface Choices {
  again: ReadonlySet<string>;
  setAgain: Dispatch<SetStateAction<ReadonlySet<string>>>;
  separate: boolean;
  setSeparate: (on: boolean) => void;
}

/** Sends what is on the list, in one call; what is known already only where that was asked for. */
function useSend({ again, setAgain, separate, setSeparate }: Choices) {
  const text = useText();
  const intake = useIntake();
  const cache = useQueryClient();
  const [isPending, setPending] = useState(false);
  const send = async () => {
    const here = door.here();
    const status = () => cache.getQueryData<StatusView>(["status"]);
    const before = status();
    const sendable = intake.sources.filter((source) => !source.problem && isToGo(source, again));
    const stays = intake.sources.filter((source) => !source.problem && !isToGo(source, again));
    setPending(true);
    try {
      const view = await here.call("hand_over", listOf(sendable, again, separate, before?.endpointId ?? ""));
      const parts = [...view.items, view.gone];
      // Each cause once: it is the same for all that it concerns.
      const problems = new Map(parts.flatMap(({ problem }) => (problem ? [[problem.code, problem]] : [])));
      problems.forEach(sayProblem(text));
      const n = parts.flatMap(({ submissions }) => submissions.filter((id) => id !== null)).length;
      if (status()?.room !== before?.room) {
        say({ tone: "attention", title: text("send.other-room", { n }), more: text("send.other-room.more") });
        return;
      }
      const rest = leftOf(sendable, again, view);
      const went = new Set(sendable.map(({ path }) => path));
      // What was marked meanwhile stays so.
      setAgain((now) => new Set([...[...now].filter((path) => !went.has(path)), ...rest.again]));
      // The next list is another one.
      if (n > 0) setSeparate(false);
      const isAnySettled = view.items.some(({ files, failed }) => files.length > failed.length);
      const beside = isAnySettled ? stays : [];
      intake.sent([...view.items, goneOf(view.gone, sendable), notHandedOver(beside)], { ...rest.left, gone: [...rest.left.gone, ...beside] });
    } catch (thrown) {
      sayProblem(text)(thrown);
    } finally {
      setPending(false);
      followJournal(cache);
    }
  };
  return { send: () => void send(), isPending };
}

/** What is handed over, in the order in which it was chosen. */
function listOf(sources: Source[], again: ReadonlySet<string>, separate: boolean, endpoint: string): HandedList {
  const found = sources.flatMap((source) => source.found ?? []);
  const corrections = found.flatMap(({ corrects, digest }) => (corrects?.possible ? [{ id: corrects.id, digest }] : []));
  return {
    items: sources.map(({ path, pasted }) => pasted ?? { path }),
    again: repeated(sources.filter(({ path }) => again.has(path))).map(({ digest }) => digest),
    // The core finds them by itself as well: named, they are nothing else by then.
    corrections: separate || corrections.length > SHOWN_MAX ? [] : corrections,
    shown: shownOf(found),
    separate,
    endpoint,
  };
}

/** Contents named in one call at most. */
const SHOWN_MAX = 10_000;

/** What was seen: a system may write there while somebody looks. Too many to be named go as they lie. */
function shownOf(found: CandidateView[]): string[] | null {
  const digests = new Set(found.flatMap(({ digest }) => (digest ? [digest] : [])));
  return digests.size > SHOWN_MAX ? null : [...digests];
}

/** What was shown and lies nowhere any more, under the names that it was shown by: nobody sends it. */
function goneOf(gone: IntakeView, sources: Source[]): IntakeView {
  const shown = new Map(sources.flatMap((source) => source.found ?? []).map((file) => [file.digest, file]));
  const files = gone.files.flatMap(({ digest, verdict, messages }) => {
    const file = shown.get(digest);
    return file ? [{ ...file, verdict, messages }] : [];
  });
  return { files, submissions: files.map(() => null), failed: [], problem: null };
}

/** What stays here is told with what went, as what became no submission. */
function notHandedOver(sources: Source[]): IntakeView {
  const files = sources.flatMap((source) => source.found ?? []);
  return { files, submissions: files.map(() => null), failed: [], problem: null };
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
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) send();
    };
    document.addEventListener("keydown", press);
    return () => document.removeEventListener("keydown", press);
  });
}
