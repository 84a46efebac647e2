// One message: our sentence in the reader's language; then the authority's code and its own words.

import { CircleAlert, Info, Locate, TriangleAlert } from "lucide-react";

import type { MessageView } from "../bridge/generated/MessageView";
import { useCodeText, useText } from "../i18n/text";
import type { Text } from "../i18n/text";
import { Button } from "./controls";
import css from "./message.module.css";
import { paramsText } from "./notes";

/** Our sentence for a message, most particular first: the authority's rule, then the code. */
export function sentenceOf(text: Text, message: MessageView): string {
  if (message.rule) {
    const known = text.code(`rule.${message.rule.toUpperCase()}`, message.params);
    if (known) return known;
  }
  if (message.source === "authority") {
    const known = text.code(`issue.${message.code}`, message.params);
    return known ?? text("message.authority-says", { code: message.rule ?? message.code });
  }
  const known = text.code(`finding.${message.code}`, message.params);
  if (known) return known;
  const params = paramsText(message.params);
  return text("message.unfamiliar", { code: message.code, params });
}

const ICONS = { error: CircleAlert, warning: TriangleAlert, information: Info };

export function Message(props: { message: MessageView; onShow?: () => void; compact?: boolean }) {
  const { message, onShow, compact } = props;
  const text = useText();
  const words = useCodeText();
  const severity = message.severity in ICONS ? (message.severity as keyof typeof ICONS) : "information";
  const Icon = ICONS[severity];
  return (
    <li className={`${css.message} ${css[severity]} ${compact ? css.compact : ""}`} data-testid="message">
      <Icon aria-hidden size={17} className={css.icon} />
      <div className={css.words}>
        <p className={`${css.sentence} selectable`}>
          <span className="visually-hidden">{words("severity", severity)}: </span>
          {sentenceOf(text, message)}
        </p>
        {!compact && message.text && (
          <blockquote className={`${css.own} selectable`} lang="en">
            {message.text}
          </blockquote>
        )}
        <div className={css.origin}>
          <span>{words("source", message.source)}</span>
          {message.rule && <code className="selectable">{message.rule}</code>}
          {message.line !== null && <span>{text("message.line", { line: message.line })}</span>}
          {!compact && (
            <details className={css.details}>
              <summary>{text("certificate.details")}</summary>
              <code className="selectable">{[message.code, message.expression].filter(Boolean).join(" · ")}</code>
            </details>
          )}
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
