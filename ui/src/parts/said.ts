// What a message says, in the reader's language, most particular first; and what it leaves unsaid.

import type { MessageView } from "../bridge/generated/MessageView";
import type { Text } from "../i18n/text";
import { paramsText } from "./notes";

/** Rules that differ only in the code system that they look at are one rule to a person. */
const VARIANT = /-(loinc|snomedct)$/;

/** Codes by which a rule of a package is reported: its own words are in the parameter `text`. */
const BROKEN = new Set(["rule-invariant", "rule-invariant-not-evaluated", "rule-extension-context-rule"]);

/** Our sentence for a message: for the authority's rule, then for the named rule of a package, then for the code. */
export function sentenceOf(text: Text, message: MessageView): string {
  const { rule } = message;
  const params = named(text, message);
  const ruled = rule && (text.code(`rule.${rule.toUpperCase()}`, params) ?? text.code(`named.${rule.replace(VARIANT, "")}`));
  if (ruled) return ruled;
  if (message.source === "authority") {
    return text.code(`issue.${message.code}`, params) ?? text("message.authority-says", { code: rule ?? message.code });
  }
  if (rule && BROKEN.has(message.code)) return text("message.rule-broken", { rule });
  const known = text.code(`finding.${message.code}`, params);
  return known ?? text("message.unfamiliar", { code: message.code, params: paramsText(message.params) });
}

/** The parameters, with the name of the element as people call it, where the catalogue has one. */
function named(text: Text, message: MessageView): Record<string, string> {
  const { element } = message.params;
  const { path } = message;
  if (!element || !path) return message.params;
  const own = path.endsWith(`.${element}`) ? path : `${path}.${element}`;
  const name = text.code(`path.${own}`);
  return name ? { ...message.params, element: name } : message.params;
}

/** The words of the rule or of the authority, as they were published. */
export function rawText(message: MessageView): string | null {
  return message.text ?? (BROKEN.has(message.code) ? (message.params.text ?? null) : null);
}

/** What to do about it. */
export function helpOf(text: Text, message: MessageView): string | undefined {
  return message.source === "authority" ? undefined : text.code(`finding.${message.code}.more`, message.params);
}

/** What stands there and what should, where the sentence does not say it. */
export function valuesOf(message: MessageView, sentence: string): { found: string | null; expected: string | null } {
  const { params, suggestion } = message;
  const unsaid = (value: string | null | undefined) => (value && !sentence.includes(value) ? value : null);
  const found = params.found ?? params.value ?? message.found;
  // A suggestion says both.
  if (suggestion) return { found: null, expected: null };
  return { found: unsaid(found), expected: unsaid(params.expected ?? params["value-set"]) };
}
