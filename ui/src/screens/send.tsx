// Send: choose or drop, look at the findings, send, take back for ten seconds.

import { ClipboardPaste, EyeOff, FilePlus2, FileStack, FlaskConical, FolderPlus, Send as SendIcon, X } from "lucide-react";
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import type { Dispatch, SetStateAction } from "react";

import { door } from "#door";

import { problemOf } from "../bridge/door";
import type { IntakeView } from "../bridge/generated/IntakeView";
import type { StatusView } from "../bridge/generated/StatusView";
import { followJournal, useStatus } from "../bridge/queries";
import { useText } from "../i18n/text";
import { isToGo, leftOf, repeated, tally, useIntake } from "../intake";
import type { Part, Source } from "../intake";
import { CandidateRow } from "../parts/candidate";
import { Checklist } from "../parts/checklist";
import { Button, Switch } from "../parts/controls";
import { isDialogOpen } from "../parts/dialog";
import { Notice, ProblemNote } from "../parts/notes";
import screen from "../parts/screen.module.css";
import { say, sayProblem } from "../parts/toasts";
import { LeftLying } from "../parts/watched";
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
  const { send, isPending } = useSend(again, setAgain, separate);
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

/** Says that names are masked before sending; they are shown in the list of reports on request. */
function Masked() {
  const text = useText();
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

/** Sends what is on the list; what is known already only where that was asked for. */
function useSend(again: ReadonlySet<string>, setAgain: Dispatch<SetStateAction<ReadonlySet<string>>>, separate: boolean) {
  const text = useText();
  const intake = useIntake();
  const cache = useQueryClient();
  const [isPending, setPending] = useState(false);
  const send = async () => {
    const here = door.here();
    const room = () => cache.getQueryData<StatusView>(["status"])?.room;
    const before = room();
    const sendable = intake.sources.filter((source) => !source.problem && isToGo(source, again));
    const stays = intake.sources.filter((source) => !source.problem && !isToGo(source, again));
    const handed: Part[] = [];
    const views: IntakeView[] = [];
    setPending(true);
    // What was shown for one authority goes to no other, also where it comes into use in the middle of a hand-over.
    let moved = false;
    const hand = async (paths: string[], call: () => Promise<IntakeView>) => {
      if (paths.length === 0) return;
      if (moved) {
        handed.push({ paths });
        return;
      }
      try {
        const view = await call();
        views.push(view);
        handed.push({ paths, view });
        if (view.problem) sayProblem(text)(view.problem);
      } catch (thrown) {
        handed.push({ paths });
        moved = problemOf(thrown).code === "endpoint-changed";
        sayProblem(text)(thrown);
      }
    };
    // Pasted texts lie nowhere else, and take no time: they are in the journal before any file is read.
    for (const { path, pasted } of sendable) {
      if (pasted) await hand([path], () => here.call("send_text", { ...pasted, again: again.has(path), separate }));
    }
    for (const repeat of [false, true]) {
      const sources = sendable.filter((source) => !source.pasted && again.has(source.path) === repeat);
      const paths = sources.map(({ path }) => path);
      const shown = shownOf(sources);
      await hand(paths, () => here.call("send_files", { paths, again: repeat, separate, shown }));
    }
    setPending(false);
    followJournal(cache);
    const n = views.flatMap((view) => view.submissions.filter((id) => id !== null)).length;
    if (room() !== before) {
      say({ tone: "attention", title: text("send.other-room", { n }), more: text("send.other-room.more") });
    } else if (views.length > 0) {
      const rest = leftOf(intake.sources, again, handed);
      const went = new Set(handed.flatMap((part) => part.paths));
      // What was marked meanwhile stays so.
      setAgain((now) => new Set([...[...now].filter((path) => !went.has(path)), ...rest.again]));
      const gone = [...rest.left.gone, ...stays.map(({ path }) => path)];
      intake.sent([...views, goneOf(views, sendable), notHandedOver(stays)], { ...rest.left, gone });
    }
  };
  return { send: () => void send(), isPending };
}

/** Contents named in one call at most. */
const SHOWN_MAX = 10_000;

/** What was seen of these sources: a system may write there while somebody looks. Too many to be named go as they lie. */
function shownOf(sources: Source[]): string[] | null {
  const digests = new Set(sources.flatMap(({ found }) => found ?? []).flatMap(({ digest }) => (digest ? [digest] : [])));
  return digests.size > SHOWN_MAX ? null : [...digests];
}

/** What was shown and lies nowhere any more, under the names that it was shown by: nobody sends it. */
function goneOf(views: IntakeView[], sources: Source[]): IntakeView {
  const gone = views.flatMap((view) => view.failed.flatMap((at) => view.files[at] ?? [])).filter((file) => file.file === "");
  const shown = new Map(sources.flatMap((source) => source.found ?? []).map((file) => [file.digest, file]));
  const files = gone.flatMap(({ digest, verdict, messages }) => {
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
