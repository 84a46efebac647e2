// One message: our sentence in the reader's language; what stands there and what should; the words of the rule or of
// the authority; what to do, and the cure where it needs no judgement.

import { CircleAlert, Info, Locate, TriangleAlert } from "lucide-react";
import type { LucideIcon } from "lucide-react";

import type { MessageView } from "../bridge/generated/MessageView";
import type { Severity } from "../bridge/generated/Severity";
import { useCodeText, useText } from "../i18n/text";
import { Button } from "../kit/controls";
import css from "./message.module.css";
import { helpOf, leadingWords, rawText, shownMessage, shownSentence, valuesOf } from "./said";
import { Suggestion } from "./suggestion";
import { useWindow } from "../place";
import { initialOf, namesSomebody, useVeil } from "./veil";

const ICONS: Record<Severity, LucideIcon> = { error: CircleAlert, warning: TriangleAlert, information: Info };

interface Props {
  message: MessageView;
  onShow?: () => void;
  /** Puts in what is suggested. */
  onApply?: () => void;
  compact?: boolean;
  /** Quotes the authority although it is compact: its words may say what to change, and stand nowhere else here. */
  quotes?: boolean;
}

export function Message({ message, onShow, onApply, compact, quotes }: Props) {
  const text = useText();
  const words = useCodeText();
  const { severity } = message;
  const Icon = ICONS[severity];
  const { hide, isHidden } = useVeil();
  const { reveal } = useWindow();
  const sentence = shownSentence(text, message, !reveal);
  // Where nobody knows whom they may name, the words of the authority are not shown while names are hidden.
  const mayName = message.source === "authority" && !reveal && !isHidden;
  const raw = mayName ? null : rawText(message);
  const leads = raw !== null && leadingWords(text, message) !== null;
  const foldsWords = compact && !leads && !(quotes && message.source === "authority");
  return (
    <li
      className={`${css.message} ${css[severity]} ${compact ? css.compact : ""}`}
      data-testid="message"
      data-code={message.code}
    >
      <Icon aria-hidden size={17} className={css.icon} />
      <div className={css.words}>
        <p className={`${css.sentence} selectable`}>
          <span className="visually-hidden">{words("severity", severity)}: </span>
          {leads ? <span lang="">{hide(raw)}</span> : hide(sentence)}
        </p>
        {leads && <p className="selectable">{hide(sentence)}</p>}
        <Values message={message} sentence={sentence} />
        {message.suggestion && <Suggestion suggestion={message.suggestion} onApply={onApply} />}
        {!foldsWords && !leads && raw && (
          <blockquote className={`${css.own} selectable`} lang="">
            {hide(raw)}
          </blockquote>
        )}
        <div className={css.origin}>
          <span>{words("source", message.source)}</span>
          {message.source === "authority" && message.rule && (
            <code className="selectable">{text("message.code", { code: message.rule })}</code>
          )}
          <Place message={message} />
          <More message={message} raw={foldsWords ? raw : null} />
          {onShow && (
            <span className={css.show}>
              <Button tone="quiet" icon={Locate} onPress={onShow}>
                {text("message.show")}
              </Button>
            </span>
          )}
        </div>
      </div>
    </li>
  );
}

/** Where in the source, as editors and those who write files count: a line may be long. */
function Place({ message: { line, column } }: { message: MessageView }) {
  const text = useText();
  if (line === null) return null;
  return <span>{column === null ? text("message.line", { line }) : text("message.place", { line, column })}</span>;
}

export function Values({ message, sentence }: { message: MessageView; sentence: string }) {
  const text = useText();
  const { hide } = useVeil();
  const { reveal } = useWindow();
  const { found, expected } = valuesOf(shownMessage(message, !reveal), sentence, text);
  const names = !reveal && namesSomebody(message.path ?? "");
  if (!found && !expected) return null;
  return (
    <dl className={`${css.values} selectable`}>
      {found && (
        <div>
          <dt>{text("message.found")}</dt>
          <dd>{names ? initialOf(found) : hide(found)}</dd>
        </div>
      )}
      {expected && (
        <div>
          <dt>{text("message.expected")}</dt>
          <dd>{expected}</dd>
        </div>
      )}
    </dl>
  );
}

/** Folded: what to do, the words of the rule where they do not stand above, and where exactly. */
export function More({ message, raw }: { message: MessageView; raw: string | null }) {
  const text = useText();
  const { hide } = useVeil();
  const help = helpOf(text, message);
  return (
    <details className={css.details}>
      <summary>{text(help ? "message.help" : "certificate.details")}</summary>
      {help && <p className="selectable">{help}</p>}
      {raw && (
        <blockquote className={`${css.own} selectable`} lang="en">
          {hide(raw)}
        </blockquote>
      )}
      <code className="selectable">{codesOf(message).join(" · ")}</code>
    </details>
  );
}

/** What people who look after a laboratory system want to copy: codes, the whole address of a list, the place. */
function codesOf({ source, rule, code, params, expression }: MessageView): string[] {
  const own = source === "authority" ? null : rule;
  const allowed = code === "code-not-allowed" ? params.expected : undefined;
  return [own, code, allowed, params["value-set"], expression].flatMap((part) => part || []);
}
