// What is found in a draft now: each finding beside the value that it is about, the others below; what can be cured
// without judgement in one press, and all of that at once after a look at what would change.

import { CircleAlert, Eye, Info, Redo2, TriangleAlert, Undo2, WandSparkles } from "lucide-react";
import type { LucideIcon } from "lucide-react";
import { useEffect, useRef, useState } from "react";

import { door } from "#door";

import type { DraftView } from "../bridge/generated/DraftView";
import type { FormFieldView } from "../bridge/generated/FormFieldView";
import type { MessageView } from "../bridge/generated/MessageView";
import type { Severity } from "../bridge/generated/Severity";
import type { SuggestedView } from "../bridge/generated/SuggestedView";
import { useCodeText, useText } from "../i18n/text";
import { Button, Select, TextField } from "../kit/controls";
import css from "./correct-findings.module.css";
import { Difference } from "./difference";
import type { Edits } from "./draft";
import { Message, More, Values } from "./message";
import { Privacy } from "./privacy";
import { rawText, shownSentence } from "./said";
import { Suggestion } from "./suggestion";
import { sayProblem } from "../kit/toasts";
import { namesSomebody, useVeil } from "./veil";
import { useWindow } from "../place";

/** Lines of the difference that are shown before all suggestions are put in. */
const PREVIEWED = 40;

export interface Undoing {
  undo: () => void;
  redo: () => void;
  canUndo: boolean;
  canRedo: boolean;
}

interface Props {
  view: DraftView;
  content: string;
  edits: Edits;
  undoing: Undoing;
  /** Shows a line because somebody asked for it. */
  onShow: (line: number) => void;
  /** Shows a line beside the value in which somebody is: nothing else moves. */
  onFollow: (line: number) => void;
}

export function Findings({ view, content, edits, undoing, onShow, onFollow }: Props) {
  const text = useText();
  const { messages, fields } = view;
  const besideFields = new Set(fields.flatMap((field) => field.messages));
  const others = messages.filter((_, at) => !besideFields.has(at));
  const count = (severity: string) => messages.filter((message) => message.severity === severity).length;
  const [errors, warnings] = [count("error"), count("warning")];
  const form = useRef<HTMLDivElement>(null);
  useEffect(() => {
    // Whoever was quicker than the check, and is somewhere in the dialog, stays there.
    const at = document.activeElement;
    const isFree = at === null || at.matches("body, [role=dialog]");
    // Only where something can be typed: on the button that shows a name, the next Enter would show all names.
    if (isFree) form.current?.querySelector<HTMLElement>('input:not([tabindex="-1"])')?.focus();
  }, []);
  return (
    <>
      <div className={css.head}>
        <p className={css.sum} role="status" data-testid="findings-sum" data-errors={errors} data-warnings={warnings}>
          {messages.length === 0 && view.readable ? text("correct.clean") : text("findings.sum", { errors, warnings })}
        </p>
        <span className={css.tools}>
          <Button
            tone="quiet"
            icon={Undo2}
            label={text("findings.undo")}
            isDisabled={!undoing.canUndo}
            onPress={undoing.undo}
            data-testid="undo-edit"
          />
          <Button
            tone="quiet"
            icon={Redo2}
            label={text("findings.redo")}
            isDisabled={!undoing.canRedo}
            onPress={undoing.redo}
            data-testid="redo-edit"
          />
        </span>
      </div>
      <AllSuggestions messages={messages} content={content} onApply={edits.replace} />
      <h3>{text("correct.form")}</h3>
      {fields.length === 0 && <p className={css.quiet}>{text("correct.form.none")}</p>}
      <div className={css.form} ref={form}>
        {fields.map((field) => (
          <Value
            key={field.expression}
            field={field}
            messages={field.messages.flatMap((at) => messages[at] ?? [])}
            edits={edits}
            onFollow={onFollow}
          />
        ))}
      </div>
      {view.privacy && <Privacy view={view.privacy} onReduce={reducing(view, edits)} />}
      {others.length > 0 && (
        <>
          <h3>{text("findings.others")}</h3>
          <ul className={css.others}>
            {others.map((message) => (
              <Message
                key={`${message.code} ${message.rule} ${message.expression}`}
                message={message}
                onShow={message.line === null ? undefined : () => onShow(message.line ?? 1)}
                onApply={applying(message, edits)}
              />
            ))}
          </ul>
        </>
      )}
    </>
  );
}

/** Puts the patient into the form that is permitted, where what has to change needs no judgement. */
function reducing({ privacy, reducible }: DraftView, edits: Edits): (() => void) | undefined {
  return privacy && reducible ? () => edits.apply(privacy.patient) : undefined;
}

function applying({ suggestion }: MessageView, edits: Edits): (() => void) | undefined {
  return suggestion ? () => edits.apply(suggestion.expression) : undefined;
}

/** "Put in all 7 suggestions": first what would change, then one press. */
function AllSuggestions(props: { messages: MessageView[]; content: string; onApply: (text: string) => void }) {
  const { messages, content, onApply } = props;
  const text = useText();
  const [offered, setOffered] = useState<{ of: string; view: SuggestedView }>();
  // What would be put in is that of this text alone.
  const view = offered?.of === content ? offered.view : undefined;
  const n = new Set(messages.flatMap((message) => message.suggestion?.expression ?? [])).size;
  const look = () =>
    void door
      .call("apply_suggestions", { text: content, only: null })
      .then((found) => setOffered({ of: content, view: found }), sayProblem(text));
  if (n === 0) return null;
  if (!view) {
    return (
      <Button icon={WandSparkles} onPress={look} data-testid="all-suggestions">
        {text("suggestion.all", { n })}
      </Button>
    );
  }
  return (
    <section className={css.preview} aria-label={text("suggestion.preview")} data-testid="suggestions-preview">
      <strong>{text("suggestion.preview")}</strong>
      <Difference changes={view.changes} changed={view.changed} max={PREVIEWED} />
      <div className={css.actions}>
        <Button tone="quiet" onPress={() => setOffered(undefined)}>
          {text("action.cancel")}
        </Button>
        <Button tone="primary" icon={WandSparkles} autoFocus onPress={() => onApply(view.text)} data-testid="apply-all">
          {text("suggestion.apply-all", { n: view.count })}
        </Button>
      </div>
    </section>
  );
}

interface ValueProps {
  field: FormFieldView;
  messages: MessageView[];
  edits: Edits;
  onFollow: (line: number) => void;
}

/** A value in question with what is found of it now. */
function Value({ field, messages, edits, onFollow }: ValueProps) {
  return (
    <div className={css.value} data-field={field.path}>
      <Field field={field} edits={edits} onFocus={() => onFollow(field.line)} />
      {messages.map((message) => (
        <Beside key={`${message.code} ${message.rule}`} message={message} onApply={applying(message, edits)} />
      ))}
    </div>
  );
}

const ICONS: Record<Severity, LucideIcon> = { error: CircleAlert, warning: TriangleAlert, information: Info };

function Beside({ message, onApply }: { message: MessageView; onApply: (() => void) | undefined }) {
  const text = useText();
  const words = useCodeText();
  const { severity } = message;
  const Icon = ICONS[severity];
  const { hide, isHidden } = useVeil();
  const sentence = shownSentence(text, message, isHidden);
  return (
    <div className={`${css.beside} ${css[severity]}`} data-testid="beside" data-code={message.code}>
      <p className="selectable">
        <Icon aria-hidden size={15} />
        <span>
          <span className="visually-hidden">{words("severity", severity)}: </span>
          {hide(sentence)}
        </span>
      </p>
      <Values message={{ ...message, found: null }} sentence={sentence} />
      {message.suggestion && <Suggestion suggestion={message.suggestion} onApply={onApply} />}
      <More message={message} raw={rawText(message)} />
    </div>
  );
}

function Field({ field, edits, onFocus }: { field: FormFieldView; edits: Edits; onFocus: () => void }) {
  const text = useText();
  const words = useCodeText();
  const label = words("path", field.path);
  const { isHidden, hide } = useVeil();
  const { setReveal } = useWindow();
  const [asked, setAsked] = useState(false);
  const [typed, setTyped] = useState(field.value);
  const sent = useRef(field.value);
  const stays = edits.stays?.expression === field.expression ? edits.stays : undefined;
  useEffect(() => {
    // Changed from elsewhere, e.g. in the source.
    if (field.value !== sent.current) {
      sent.current = field.value;
      setTyped(field.value);
    }
  }, [field.value]);
  useEffect(() => {
    // No field looks empty while its value stands in the report.
    if (stays) setTyped(field.value);
  }, [stays, field.value]);
  const change = (value: string) => {
    setTyped(value);
    sent.current = value;
    if (value.trim() === "") edits.empty(field.expression);
    else edits.edit(field.expression, value);
  };
  if (isHidden && (namesSomebody(field.path) || hide(field.value) !== field.value)) {
    const show = () => {
      setAsked(true);
      setReveal(true);
    };
    return <HiddenField label={label} value={hide(field.value)} onShow={show} id={`form-${field.path}`} />;
  }
  if (field.choices.length > 0) {
    const choices = field.choices.map(({ code, display, id }) => {
      const called = (id && text.code(id)) ?? display;
      return { id: code, name: called ? `${called} (${code})` : (text.code(`choice.${code}`) ?? code) };
    });
    const known =
      typed === "" || choices.some(({ id }) => id === typed)
        ? choices
        : [{ id: typed, name: text("field.unlisted", { value: typed }) }, ...choices];
    const choose = (code: string) => {
      change(code);
      // What stands beside the code is its name, and would be that of another one.
      const display = field.choices.find((choice) => choice.code === code)?.display;
      if (field.display === null || code === typed) return;
      if (display) return edits.edit(field.display, display);
      edits.empty(field.display);
      edits.leave();
    };
    return <Select label={label} value={typed} choices={known} onChange={choose} data-testid={`form-${field.path}`} />;
  }
  // What a code means, as long as nobody types another one.
  const meaning = (field.id && typed === field.value && text.code(field.id)) || undefined;
  return (
    <TextField
      label={label}
      value={typed}
      autoFocus={asked}
      help={typed.trim() === "" ? text(field.value === "" ? "field.missing" : "field.emptied") : meaning}
      error={stays && text(stays.why === "needed" ? "field.needed" : "field.tied")}
      onChange={change}
      onFocus={onFocus}
      onBlur={edits.leave}
      data-testid={`form-${field.path}`}
    />
  );
}

/** A value that names the patient: a press shows it, and the keyboard is in it. */
function HiddenField({ label, value, onShow, id }: { label: string; value: string; onShow: () => void; id: string }) {
  const text = useText();
  const [first] = value.match(/[\p{L}\p{N}]/u) ?? [""];
  return (
    <div className={css.hiddenField}>
      <span aria-hidden>{label}</span>
      <Button icon={Eye} onPress={onShow} data-testid={`hidden-${id}`}>
        <span className="visually-hidden">{text("field.before", { label })} </span>
        <span>{first}…</span> <span className={css.quiet}>{text("names.show-value")}</span>
      </Button>
    </div>
  );
}
