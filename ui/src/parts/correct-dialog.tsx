// Correcting a report: the values in question as a form, its source beside them in step, and always what differs from
// what was sent. What is typed is kept as a draft in the journal until it is sent or given up.

import { FileUp, RotateCcw, Send } from "lucide-react";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";

import { door } from "#door";

import type { DetailView } from "../bridge/generated/DetailView";
import type { DraftView } from "../bridge/generated/DraftView";
import type { FormFieldView } from "../bridge/generated/FormFieldView";
import { useCommand, useDetail } from "../bridge/queries";
import { useCodeText, useText } from "../i18n/text";
import { useIntake } from "../intake";
import { Button, Select, TextField } from "./controls";
import css from "./correct-dialog.module.css";
import { afterCorrection } from "./correction";
import { Dialog } from "./dialog";
import { Difference } from "./difference";
import { useDropInto } from "./drops";
import { Message, sentenceOf } from "./message";
import { Notice, ProblemNote } from "./notes";
import { SourceEditor } from "./source-editor";
import type { Mark } from "./source-editor";
import { sayProblem } from "./toasts";

/** Pauses of the typist after which the draft is looked at, and kept. */
const LOOK_MS = 250;
const KEEP_MS = 700;

interface Props {
  id: number;
  onClose: () => void;
  onDone: (id: number) => void;
}

export function CorrectDialog({ id, onClose, onDone }: Props) {
  const detail = useDetail(id);
  const text = useText();
  const [draft, setDraft] = useState<string | null>();
  useEffect(() => {
    door.call("draft", { id }).then(setDraft, (problem) => {
      // Without the draft there is still what was sent.
      setDraft(null);
      sayProblem(text)(problem);
    });
  }, [id, text]);
  if (!detail.data || draft === undefined) return null;
  return <Editor view={detail.data} draft={draft} onClose={onClose} onDone={onDone} />;
}

function Editor({ view, draft, onClose, onDone }: { view: DetailView; draft: string | null } & Omit<Props, "id">) {
  const text = useText();
  const intake = useIntake();
  const { id } = view.row;
  const [content, setContent] = useState(draft ?? view.source);
  const looked = useLookedAt(id, content);
  const keep = useKeptDraft(id, content, draft ?? view.source);
  const edit = useFormEdits(content, setContent);
  const [line] = useState(() => lineInQuestion(view));
  const finish = (given: Parameters<typeof afterCorrection>[0]) => {
    keep.settled();
    if (given.submissions.some((one) => one !== null)) intake.sent([given]);
    onClose();
    afterCorrection(given, text, onDone);
  };
  const withFile = useCommand("correct_with_file", { onDone: finish });
  const withText = useCommand("correct_with_text", { onDone: finish });
  const { mutate: sendFile } = withFile;
  const take = useCallback(([path]: string[]) => path !== undefined && sendFile({ id, path }), [id, sendFile]);
  useDropInto(take);
  const choose = () => void door.call("choose_files", { purpose: "reports" }).then(take, sayProblem(text));
  const dirty = content !== view.source;
  const busy = withFile.isPending || withText.isPending;
  const ready = dirty && content.trim() !== "" && !busy;
  const send = () => ready && withText.mutate({ id, text: content });
  useSendKey(send);
  const problem = withFile.error ?? withText.error;
  const marks = useMarks(looked);
  return (
    <Dialog
      title={text("correct.title")}
      size="large"
      isDirty={dirty && draft !== content && !keep.isKept}
      onClose={onClose}
      footer={
        <>
          <Summary view={looked} dirty={dirty} />
          <Button tone="quiet" onPress={onClose}>
            {text("action.cancel")}
          </Button>
          <Button tone="primary" icon={Send} isDisabled={!ready} isPending={busy} onPress={send} data-testid="correct-send">
            {text("correct.send")}
          </Button>
        </>
      }
    >
      {draft !== null && draft !== view.source && (
        <Notice
          tone="progress"
          title={text("correct.draft")}
          actions={
            <Button icon={RotateCcw} onPress={() => setContent(view.source)}>
              {text("correct.start-again")}
            </Button>
          }
        />
      )}
      <div className={css.ways}>
        <section className={css.aside}>
          {problem && <ProblemNote problem={problem} />}
          <ul className={css.messages}>
            {view.messages.map((message, at) => (
              <Message key={at} message={message} compact />
            ))}
          </ul>
          <h3>{text("correct.form")}</h3>
          {looked && looked.fields.length === 0 && <p className={css.quiet}>{text("correct.form.none")}</p>}
          <Form fields={looked?.fields ?? []} onEdit={edit} />
          <div className={css.file}>
            <h3>{text("correct.file")}</h3>
            <p>{text("correct.file.more")}</p>
            <Button icon={FileUp} isPending={busy} onPress={choose} data-testid="correct-choose">
              {text("correct.choose")}
            </Button>
          </div>
        </section>
        <section className={css.text} aria-label={text("correct.source")}>
          <SourceEditor
            label={text("correct.source")}
            value={content}
            format={view.format}
            marks={marks}
            line={line}
            onChange={setContent}
          />
        </section>
      </div>
    </Dialog>
  );
}

/** Line of the text, from 1, that the first message concerns. */
function lineInQuestion(view: DetailView): number | null {
  const [first] = view.messages;
  if (!first) return null;
  const section = first.section === null ? undefined : view.sections[first.section];
  return section?.fields.find((field) => field.key === first.field)?.line ?? first.line;
}

/** What the core says of the draft, a moment after the last key. */
function useLookedAt(id: number, content: string): DraftView | undefined {
  const text = useText();
  const [looked, setLooked] = useState<DraftView>();
  useEffect(() => {
    let current = true;
    const timer = setTimeout(() => {
      door.call("look_at_draft", { id, text: content }).then((view) => current && setLooked(view), sayProblem(text));
    }, looked ? LOOK_MS : 0);
    return () => {
      current = false;
      clearTimeout(timer);
    };
    // What was found before is no reason to look again.
    // oxlint-disable-next-line react-hooks/exhaustive-deps
  }, [id, content, text]);
  return looked;
}

/** Keeps the draft in the journal, so that it survives whatever ends the window. */
function useKeptDraft(id: number, content: string, initial: string): { isKept: boolean; settled: () => void } {
  const text = useText();
  const over = useRef(false);
  const [kept, setKept] = useState(initial);
  useEffect(() => {
    if (content === kept) return undefined;
    const timer = setTimeout(() => {
      if (!over.current) door.call("keep_draft", { id, text: content }).then(() => setKept(content), sayProblem(text));
    }, KEEP_MS);
    return () => clearTimeout(timer);
  }, [id, content, kept, text]);
  return {
    isKept: kept === content,
    settled: () => {
      over.current = true;
    },
  };
}

/** Writes values of the form into the text, one after the other. */
function useFormEdits(content: string, setContent: (text: string) => void) {
  const text = useText();
  const latest = useRef(content);
  const queue = useRef(Promise.resolve());
  useEffect(() => {
    latest.current = content;
  }, [content]);
  return (expression: string, value: string) => {
    queue.current = queue.current
      .then(() => door.call("edit_draft", { text: latest.current, expression, value }))
      .then((edited) => {
        latest.current = edited;
        setContent(edited);
      })
      .catch(sayProblem(text));
  };
}

function useMarks(looked: DraftView | undefined): Mark[] {
  const text = useText();
  return useMemo(() => {
    const severities = { error: "error", warning: "warning" } as const;
    return (looked?.messages ?? []).flatMap((message) =>
      message.line === null
        ? []
        : [
            {
              line: message.line,
              severity: severities[message.severity as "error" | "warning"] ?? ("info" as const),
              text: sentenceOf(text, message),
            },
          ],
    );
  }, [looked, text]);
}

function Form({ fields, onEdit }: { fields: FormFieldView[]; onEdit: (expression: string, value: string) => void }) {
  return (
    <div className={css.form}>
      {fields.map((field) => (
        <Field key={field.expression} field={field} onEdit={(value) => onEdit(field.expression, value)} />
      ))}
    </div>
  );
}

function Field({ field, onEdit }: { field: FormFieldView; onEdit: (value: string) => void }) {
  const words = useCodeText();
  const label = words("path", field.path);
  const [typed, setTyped] = useState(field.value);
  const sent = useRef(field.value);
  useEffect(() => {
    // Changed from elsewhere, e.g. in the source.
    if (field.value !== sent.current) {
      sent.current = field.value;
      setTyped(field.value);
    }
  }, [field.value]);
  const change = (value: string) => {
    setTyped(value);
    sent.current = value;
    if (value !== "") onEdit(value);
  };
  if (field.choices.length > 0) {
    const known = field.choices.includes(typed) ? field.choices : [typed, ...field.choices];
    return <Select label={label} value={typed} choices={known.map((id) => ({ id, name: words("choice", id) }))} onChange={change} />;
  }
  return <TextField label={label} value={typed} onChange={change} data-testid={`form-${field.path}`} />;
}

/** "You change 1 line: − … + …", what is missing now, and what the check says. */
function Summary({ view, dirty }: { view: DraftView | undefined; dirty: boolean }) {
  const text = useText();
  const words = useCodeText();
  if (!view || !dirty) return <span className={css.kept}>{text("correct.same")}</span>;
  const n = view.messages.length;
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
        {!view.readable ? text("correct.not-readable") : n === 0 ? text("correct.clean") : text("correct.findings", { n })}
        {" · "}
        {text("correct.kept")}
      </p>
    </div>
  );
}

function useSendKey(send: () => void): void {
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) send();
    };
    // Before the editor and the dialog see it.
    document.addEventListener("keydown", press, true);
    return () => document.removeEventListener("keydown", press, true);
  });
}
