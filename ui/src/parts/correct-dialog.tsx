// Correcting a report: what is found in it at its place, the values in question as a form, its source beside them in
// step, and always what differs from what was sent. What is typed is a draft in the journal until it is sent.

import { useQueryClient } from "@tanstack/react-query";
import { FileUp, Hand, RotateCcw, Send } from "lucide-react";
import { Suspense, lazy, useCallback, useEffect, useMemo, useRef, useState } from "react";

import { door } from "#door";

import type { DetailView } from "../bridge/generated/DetailView";
import type { DraftView } from "../bridge/generated/DraftView";
import { followDrafts, useCommand, useDetail } from "../bridge/queries";
import { useCodeText, useText } from "../i18n/text";
import type { Text } from "../i18n/text";
import { useIntake } from "../intake";
import { Button } from "../kit/controls";
import css from "./correct-dialog.module.css";
import { Findings } from "./correct-findings";
import { afterCorrection } from "./correction";
import { Dialog } from "../kit/dialog";
import { Difference } from "./difference";
import { useEdits, useKeptDraft, useLookedAt, useSendKey, useUndoKeys } from "./draft";
import { CorrectionQuestion } from "./drop";
import { useDropInto } from "./drops";
import { Message } from "./message";
import { Notice, ProblemNote } from "../kit/notes";
import { countOf, sentenceOf } from "./said";
import type { Mark } from "./source-code";
import type { History } from "./source-editor";
import editor from "./source-editor.module.css";
import { lineOf } from "./source-text";
import { showInside } from "../kit/scroll";
import { say, sayProblem } from "../kit/toasts";
import { Hidden, Veiled, useVeil } from "./veil";

const SourceEditor = lazy(async () => ({ default: (await import("./source-editor")).SourceEditor }));

interface Props {
  id: number;
  /** What is suggested for this element is put in at once. */
  suggestion?: string | undefined;
  onClose: () => void;
  /** Shows what comes next: the correction has this number, and is kept on hold where it still has errors. */
  onDone: (id: number, isKept: boolean) => void;
}

export function CorrectDialog({ id, ...rest }: Props) {
  const detail = useDetail(id);
  const text = useText();
  const cache = useQueryClient();
  const [draft, setDraft] = useState<string | null>();
  // Whoever closes it may have left a draft, or begun anew.
  useEffect(() => () => followDrafts(cache), [cache]);
  useEffect(() => {
    door.call("draft", { id }).then(setDraft, (problem) => {
      // Without the draft there is still what was sent.
      setDraft(null);
      sayProblem(text)(problem);
    });
  }, [id, text]);
  if (!detail.data || draft === undefined) return null;
  return (
    <Veiled view={detail.data}>
      <Editor view={detail.data} draft={draft} {...rest} />
    </Veiled>
  );
}

function Editor({
  view,
  draft,
  suggestion,
  onClose,
  onDone,
}: { view: DetailView; draft: string | null } & Omit<Props, "id">) {
  const text = useText();
  const intake = useIntake();
  const { isHidden } = useVeil();
  const { id } = view.row;
  const [began] = useState(draft ?? view.source);
  const [content, setContent] = useState(began);
  const looked = useLookedAt(id, content);
  /** A file that was dropped or chosen: shown before it takes the report's place. */
  const [dropped, setDropped] = useState<string>();
  const keep = useKeptDraft(id, content, began, dropped !== undefined);
  const edits = useEdits(content, setContent);
  const [place, setPlace] = useState(() => ({ line: lineInQuestion(view), asked: 0 }));
  const follow = (line: number) => setPlace(({ asked }) => ({ line, asked: asked + 1 }));
  const source = useRef<HTMLElement>(null);
  const show = (line: number) => {
    follow(line);
    // In a small window it lies below the form.
    showInside(source.current);
  };
  const history = useRef<History>(null);
  const [depth, setDepth] = useState({ undo: 0, redo: 0 });
  const [undo, redo] = [() => history.current?.undo(), () => history.current?.redo()];
  useUndoKeys(undo, redo);
  useAtOnce(suggestion, edits.apply);
  const finish = (given: Parameters<typeof afterCorrection>[0]) => {
    // What was refused can be changed here, where the check says what is wrong with it.
    if (given.submissions.some((one) => one !== null)) {
      keep.settled();
      intake.sent([given]);
      onClose();
    }
    setDropped(undefined);
    afterCorrection(given, text, onDone);
  };
  const withText = useCommand("correct_with_text", { onDone: finish });
  const ask = useCallback(
    ([path, ...others]: string[]) =>
      // Of several nobody has said which is meant.
      others.length > 0
        ? say({ tone: "attention", title: text("drop.dialog"), more: text("drop.dialog.more") })
        : setDropped(path),
    [text],
  );
  useDropInto(ask);
  const choose = () => void door.call("choose_files", { purpose: "reports" }).then(ask, sayProblem(text));
  const dirty = content !== view.source;
  // What cannot be read is not taken in, and kept nowhere.
  const errors = looked?.readable ? errorsOf(looked) : 0;
  const busy = withText.isPending;
  const isBroken = looked?.readable === false;
  const ready = (dirty || edits.isEmptied || edits.isUnderWay) && content.trim() !== "" && !busy && !isBroken;
  const sending = useRef(false);
  const send = () => {
    if (busy || isBroken || sending.current) return;
    sending.current = true;
    // What was just typed is on its way into the text: only then is it known whether there is something to send.
    const over = () => {
      sending.current = false;
    };
    void edits.settled().then(async (whole) => {
      if (whole === undefined || whole === view.source || whole.trim() === "") return over();
      // What is kept after it was sent would be a draft of a report that is closed.
      await keep.underWay();
      withText.mutate({ id, text: whole }, { onSettled: over });
    });
  };
  // The question about a file has the key while it stands.
  useSendKey(() => dropped === undefined && send());
  const problem = withText.error;
  const marks = useMarks(looked, edits.apply);
  return (
    <Dialog
      title={text("correct.title")}
      size="large"
      isDirty={(dirty && draft !== content && !keep.isKept) || edits.isEmptied}
      onClose={onClose}
      footer={
        <>
          <Summary view={looked} dirty={dirty} />
          <Button tone="quiet" onPress={onClose}>
            {text("action.cancel")}
          </Button>
          <Button
            tone="primary"
            icon={errors > 0 ? Hand : Send}
            isDisabled={!ready}
            isPending={busy}
            onPress={send}
            data-testid="correct-send"
          >
            {text(errors > 0 ? "correct.keep" : "correct.send", { n: errors })}
          </Button>
        </>
      }
    >
      {dropped !== undefined && (
        <CorrectionQuestion
          key={dropped}
          id={id}
          path={dropped}
          loses={dirty}
          onDone={finish}
          onClose={() => setDropped(undefined)}
        />
      )}
      {draft !== null && draft !== view.source && (
        <Notice
          tone="progress"
          title={text("correct.draft")}
          actions={
            <Button icon={RotateCcw} onPress={() => edits.replace(view.source)}>
              {text("correct.start-again")}
            </Button>
          }
        />
      )}
      <div className={css.ways}>
        <section className={css.aside}>
          {problem && <ProblemNote problem={problem} />}
          <Said messages={view.messages} isLooked={looked !== undefined} />
          {looked && (
            <Findings
              view={looked}
              content={content}
              edits={edits}
              undoing={{ undo, redo, canUndo: depth.undo > 0, canRedo: depth.redo > 0 }}
              onShow={show}
              onFollow={follow}
            />
          )}
          <div className={css.file}>
            <h3>{text("correct.file")}</h3>
            <p>{text("correct.file.more")}</p>
            <Button icon={FileUp} isPending={busy} onPress={choose} data-testid="correct-choose">
              {text("correct.choose")}
            </Button>
          </div>
        </section>
        {isHidden && <Hidden />}
        <section ref={source} className={css.text} aria-label={text("correct.source")} hidden={isHidden}>
          <Suspense fallback={<div className={editor.editor} />}>
            <SourceEditor
              label={text("correct.source")}
              began={began}
              value={content}
              steps={edits.steps}
              format={view.format}
              marks={marks}
              place={place}
              history={history}
              onHistory={setDepth}
              onChange={edits.type}
            />
          </Suspense>
        </section>
      </div>
    </Dialog>
  );
}

/** With these it stays on hold until a person decides. */
const errorsOf = (view: DraftView) => view.messages.filter(({ severity }) => severity === "error").length;

/** What the authority said of the report as it was sent; what we say is looked up anew in the draft. */
function Said({ messages, isLooked }: { messages: DetailView["messages"]; isLooked: boolean }) {
  const shown = isLooked ? messages.filter((message) => message.source === "authority") : messages;
  if (shown.length === 0) return null;
  return (
    <ul className={css.messages}>
      {shown.map((message, at) => (
        <Message key={at} message={message} compact quotes />
      ))}
    </ul>
  );
}

/** Line of the text, from 1, that the first message concerns. */
function lineInQuestion(view: DetailView): number | null {
  const [first] = view.messages;
  return first ? lineOf(view, first) : null;
}

/** Puts in the suggestion with which the dialog was opened, once. */
function useAtOnce(suggestion: string | undefined, apply: (expression: string) => void): void {
  const done = useRef(false);
  useEffect(() => {
    if (suggestion === undefined || done.current) return;
    done.current = true;
    apply(suggestion);
  }, [suggestion, apply]);
}

function useMarks(looked: DraftView | undefined, apply: (expression: string) => void): Mark[] {
  const text = useText();
  const latest = useRef(apply);
  useEffect(() => {
    latest.current = apply;
  });
  return useMemo(() => {
    const severities = { error: "error", warning: "warning" } as const;
    return (looked?.messages ?? []).flatMap((message) => {
      const { line, column, suggestion } = message;
      if (line === null) return [];
      const cure = suggestion && {
        name: text("suggestion.put-in", { value: suggestion.value || text("suggestion.remove") }),
        act: () => latest.current(suggestion.expression),
      };
      return [
        {
          line,
          column,
          severity: severities[message.severity as "error" | "warning"] ?? ("info" as const),
          text: sentenceOf(text, message),
          cure,
        },
      ];
    });
  }, [looked, text]);
}

/** What has to be mended before it is a report again. */
function whatBreaks(text: Text, { messages }: DraftView): string {
  const line = messages.find((message) => message.severity === "error" && message.line !== null)?.line;
  return typeof line === "number" ? text("correct.not-readable.at", { line }) : text("correct.not-readable");
}

/** "You change 1 line: − … + …", what is missing now, and what the check says. */
function Summary({ view, dirty }: { view: DraftView | undefined; dirty: boolean }) {
  const text = useText();
  const words = useCodeText();
  if (!view || !dirty) return <span className={css.kept}>{text("correct.same")}</span>;
  const errors = errorsOf(view);
  const others = text("correct.findings", { found: countOf(text, view.messages) });
  const found = errors > 0 ? text("correct.errors", { n: errors }) : others;
  return (
    <div className={css.summary} data-testid="correct-summary">
      <strong>{text("correct.changes", { n: view.changed })}</strong>
      <Difference changes={view.changes} changed={view.changed} max={3} />
      {view.vanished.length > 0 && (
        <p className={css.vanished} role="alert">
          {text("correct.vanished", { what: view.vanished.map((path) => words("path", path)).join(", ") })}
        </p>
      )}
      <p className={css.quiet} aria-live="polite">
        {!view.readable ? whatBreaks(text, view) : view.messages.length === 0 ? text("correct.clean") : found}
        {" · "}
        {text("correct.kept")}
      </p>
    </div>
  );
}
