// What a message says, in the reader's language, most particular first; and what it leaves unsaid.

import type { MessageView } from "../bridge/generated/MessageView";
import type { RowView } from "../bridge/generated/RowView";
import { isDay } from "../i18n/text";
import type { Text, useCodeText } from "../i18n/text";
import { paramsText } from "../kit/notes";
import { ended, namesSomebody } from "./veil";

/** Rules that differ only in the code system that they look at are one rule to a person. */
const VARIANT = /-(loinc|snomedct)$/;

/** Codes by which a rule of a package is reported: its own words are in the parameter `text`. */
const BROKEN = new Set(["rule-invariant", "rule-invariant-not-evaluated", "rule-extension-context-rule"]);

/** Our sentence for a message: for the authority's rule, then for the named rule of a package, then for the code. A code
 *  that says more than which rule is broken speaks for itself. */
export function sentenceOf(text: Text, message: MessageView): string {
  const { rule } = message;
  const params = named(text, message);
  const ruled = sentenceOfRule(text, message, params);
  if (ruled) return ruled;
  if (message.source === "authority") {
    return text.code(`issue.${message.code}`, params) ?? text("message.authority-says", { code: rule ?? message.code });
  }
  if (rule && BROKEN.has(message.code)) return text("message.rule-broken", { rule });
  // What a file is says what to do with it.
  const kind = message.code === "not-a-report" && text.code(`not-a-report.${params.kind}`, params);
  if (kind) return kind;
  const isEmpty = message.params.found === "";
  return (
    // What would quote what is not there at all has a sentence of its own.
    (isEmpty ? text.code(`finding.${message.code}.none`, params) : undefined) ??
    text.code(`finding.${message.code}`, params) ??
    text("message.unfamiliar", { code: message.code, params: paramsText(message.params) })
  );
}

function sentenceOfRule(text: Text, message: MessageView, params: Record<string, string>): string | undefined {
  const { rule } = message;
  if (!rule) return undefined;
  const isOfRule = message.source === "authority" || BROKEN.has(message.code);
  const known = isOfRule ? text.code(`named.${rule.replace(VARIANT, "")}`) : undefined;
  return text.code(`rule.${rule.toUpperCase()}`, params) ?? known;
}

/** Rules of the authority for what has no rule of its own: a notice, a warning, an error. */
const ANY_RULE = /^FOPH-00[012]$/i;
/** Issue types that say of what kind a fault is, and not what it is. */
const ANY_FAULT = new Set(
  [
    "invalid structure required value invariant processing business-rule code-invalid extension not-supported",
    "informational too-long",
  ].flatMap((types) => types.split(" ")),
);

/** What the authority wrote, where our own sentence for it would say nothing. */
export function leadingWords(text: Text, message: MessageView): string | null {
  const { source, code, rule } = message;
  if (source !== "authority" || !message.text) return null;
  const isAny = rule && ANY_RULE.test(rule);
  const isKnown = sentenceOfRule(text, message, {}) !== undefined;
  return isAny || (!isKnown && ANY_FAULT.has(code)) ? message.text : null;
}

/** Codes whose sentence quotes what stands in a document, where it may be about the patient. */
const QUOTING = new RegExp(
  `^(${[
    "unexpected-text|value-not-allowed|invalid-value|code-not-allowed",
    "birth-date-after-document|date-in-future|date-too-early|reference-.*|full-url-.*",
    "rule-(fixed-value|pattern|too-small|too-great|text-pattern|address-form|answer-(option|text))",
    "rule-(reference-form|reference-ambiguous|fragment-unknown|id-twice|contained-twice|contained-not-used)",
    "rule-bundle-(full-url-.*|not-in-document|link-.*)",
  ].join("|")})$`,
);

/** Parameters that hold what was found, and not what was asked for. */
const FOUND = new Set(["value", "found", "birthDate", "birth-date", "date", "reference", "url", "id", "first"]);

/** The message as it may be shown: while names are hidden without the values of the document, unless they stand where
 *  nobody is named. */
export function shownMessage(message: MessageView, isHidden: boolean): MessageView {
  const { code, path } = message;
  if (!isHidden || !QUOTING.test(code) || (path !== null && !namesSomebody(path))) return message;
  const params = Object.entries(message.params).map(([name, value]) => [
    name,
    // What is empty hides nothing, and is told as not being there.
    FOUND.has(name) && value !== "" ? "…" : value,
  ]);
  return { ...message, params: Object.fromEntries(params) };
}

/** The sentence as it may stand where names are hidden: above many reports, in a list, in a report that stands open. */
export function shownSentence(text: Text, message: MessageView, isHidden: boolean): string {
  return sentenceOf(text, shownMessage(message, isHidden));
}

/** What stands above a message in a list: while names are hidden, the words of the authority only as `veiled` gives them. */
export function headingOf(text: Text, message: MessageView, isHidden: boolean, veiled: string | null = null): string {
  const words = leadingWords(text, message);
  return (words && (isHidden ? veiled && ended(veiled) : words)) ?? shownSentence(text, message, isHidden);
}

/** Codes about an element and not about how it is written: there people's word for it says more than FHIR's. */
const ABOUT_ELEMENTS =
  /^(rule-.*|missing-element|too-many|empty-value|empty-element|invalid-value|control-character|code-not-allowed)$/;

/** The parameters, with the name of the element as people call it, where the catalogue has one. */
function named(text: Text, message: MessageView): Record<string, string> {
  const { element, "value-set": list } = message.params;
  const params = list
    ? { ...message.params, "value-set": listName(list) }
    : { ...message.params, ...allowedCodes(text, message) };
  if (!element || !ABOUT_ELEMENTS.test(message.code)) return params;
  return { ...params, element: nameOf(text, element, message.path) };
}

/** The codes that are allowed, in the words of the list from which one is chosen. */
function allowedCodes(text: Text, { code, params: { expected } }: MessageView): { expected?: string } {
  if (code !== "code-not-allowed" || !expected) return {};
  const words = expected.split(", ").map((one) => text.code(`choice.${one}`) ?? one);
  return { expected: words.join(", ") };
}

/** A list of codes is known to people by the end of its address; the whole stands in the details. */
const listName = (address: string) => address.split("|")[0]?.split("/").at(-1) || address;

/** `family`, `value[x]` or `identifier:AHV` (a slice) in people's words; the place says more than the name alone. */
function nameOf(text: Text, element: string, path: string | null): string {
  const [name = element, slice] = element.replace("[x]", "").split(":");
  // A type of a choice is its slice: what stands there is called by that.
  const ofType = slice?.startsWith(name) ? text.code(`element.${slice}`) : undefined;
  if (ofType) return ofType;
  const own = path?.endsWith(`.${name}`) ? path : `${path ?? ""}.${name}`;
  const known = text.code(`path.${own}`) ?? text.code(`element.${name}`);
  if (!known) return element;
  return slice ? `${known} (${slice})` : known;
}

/** Elements that say nothing without that in which they stand. */
const PARTS = new Set(["code", "display", "system", "text", "unit", "value"]);

/** `Bundle.entry[2].resource.name[0].family = Muster`: an element of a report, and what stands there. */
const OF_ELEMENT = /^Bundle\.entry\[\d+\]\.resource\.(\S+)(?= = )/;

/** A difference that is told by its element, with people's words for it. */
export function namedElement(text: Text, line: string): string {
  return line.replace(OF_ELEMENT, (_, expression: string) => {
    const path = expression.replace(/\[\d+\]/g, "").split(".");
    const parts = path.filter((part) => part !== "coding");
    const shown = parts.slice(PARTS.has(parts.at(-1) ?? "") ? -2 : -1);
    return [...new Set(shown.map((part) => nameOf(text, part, null)))].join(" · ");
  });
}

/** The words of the rule or of the authority, as they were published. */
export function rawText(message: MessageView): string | null {
  return message.text ?? (BROKEN.has(message.code) ? (message.params.text ?? null) : null);
}

/** Issue types by which an authority says that it could not, rather than that the report is wrong. */
export const PASSING: ReadonlySet<string> = new Set([
  "exception",
  "timeout",
  "transient",
  "throttled",
  "lock-error",
  "no-store",
  "incomplete",
]);
/** Those about who asks. */
const ACCESS = new Set(["security", "login", "unknown", "expired", "forbidden", "suppressed"]);
/** Those about a report that it may have already. */
const KNOWN = new Set(["duplicate", "multiple-matches", "conflict", "deleted"]);

/** What to do about it: what usually is the cause, and what to change. */
export function helpOf(text: Text, message: MessageView): string | undefined {
  const { source, code, rule, params } = message;
  if (source !== "authority") return text.code(`finding.${code}.more`, params);
  const kind = PASSING.has(code) ? "passing" : ACCESS.has(code) ? "access" : KNOWN.has(code) ? "known" : "content";
  // What is checked here by the same code has the same cure.
  const own = rule && text.code(`named.${rule}`) ? text.code(`finding.${rule}.more`) : undefined;
  return (rule && text.code(`rule.${rule.toUpperCase()}.more`)) ?? own ?? text.code(`issue-help.${kind}`);
}

const SEVERITIES = ["error", "warning", "information"] as const;

/** What stands in place of a message where nothing is said of reports. */
export function unsaidOf(
  text: Text,
  words: ReturnType<typeof useCodeText>,
  { state, takenBack }: Pick<RowView, "state" | "takenBack">,
): string {
  if (takenBack === "new") return text("taken-back.reports");
  return takenBack === "correction" ? text("taken-back.corrections") : words("state-meaning", state);
}

/** How many errors, warnings and notices there are, each by its name. */
export function countOf(text: Text, messages: readonly MessageView[]): string {
  const counts = SEVERITIES.map((one) => [one, messages.filter(({ severity }) => severity === one).length] as const);
  return counts.flatMap(([one, n]) => (n > 0 ? [text(`findings.${one}`, { n })] : [])).join(", ");
}

/** Codes whose sentence says their values as sizes: the bytes beside them would say the same once more. */
const SIZES = new Set(["rule-too-large"]);

/** What JSON goes on with at a place: a sign stays as it is, all else has words. */
function signs(text: Text, expected = ""): string {
  const [one, other] = expected.split(" or ");
  return one && other ? text("syntax.or", { one, other }) : (text.code(`syntax.${expected}`) ?? expected);
}

/** What nobody would see has words. */
function visible(text: Text, found: string): string {
  if (/^[\r\n]+$/.test(found)) return text("syntax.line-end");
  return /^[\s\p{Cc}]+$/u.test(found) ? text("syntax.blank") : found;
}

/** What stands there and what should, where the sentence does not say it. */
export function valuesOf(
  message: MessageView,
  sentence: string,
  text: Text,
): { found: string | null; expected: string | null } {
  const { code, params, suggestion } = message;
  // A day stands in the sentence as people write it.
  const isSaid = (value: string) =>
    sentence.includes(value) || Object.entries(params).some((one) => one[1] === value && isDay(...one));
  const unsaid = (value: string | null | undefined) => (value && !isSaid(value) ? value : null);
  const found = params.found ?? params.value ?? message.found;
  // A suggestion says both.
  if (suggestion || SIZES.has(code)) return { found: null, expected: null };
  if (code === "code-not-allowed") return { found: unsaid(found), expected: null };
  const expected = code === "json-syntax" ? signs(text, params.expected) : params.expected;
  const seen = unsaid(found);
  return { found: seen && visible(text, seen), expected: unsaid(expected) };
}
