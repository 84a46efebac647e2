// Codes of a report in the reader's language. A report brings words in the language of who has written it: they
// stay within reach wherever other words take their place, and in sight where they may say something else.

import type { CodedView } from "../bridge/generated/CodedView";
import de from "../i18n/de/coded.json";
import en from "../i18n/en/coded.json";
import fr from "../i18n/fr/coded.json";
import it from "../i18n/it/coded.json";
import { useText } from "../i18n/text";
import type { Text } from "../i18n/text";
import css from "./coded.module.css";

/** What stands between the parts of a value. */
const BETWEEN = ": ";

/** Where a part of a value stands: what a code is called may stand in the words of another part, too. */
function placeOf(value: string, own: string, from: number): number {
  for (let at = value.indexOf(own, from); at >= 0 && own !== ""; at = value.indexOf(own, at + 1)) {
    const end = at + own.length;
    const begins = at === 0 || value.slice(0, at).endsWith(BETWEEN);
    if (begins && (end === value.length || value.startsWith(BETWEEN, end))) return at;
  }
  return -1;
}

/** A value with each code in it in the reader's words; all else, and a code that is not known, as in the report. */
export function inReadersWords(text: Text, value: string, coded: CodedView[]): string {
  let said = "";
  let from = 0;
  for (const { own, id } of coded) {
    const at = placeOf(value, own, from);
    if (at < 0) continue;
    said += value.slice(from, at) + (text.code(id) ?? own);
    from = at + own.length;
  }
  return said + value.slice(from);
}

/** What SNOMED CT adds to a name to say of what kind it is. */
const KIND = / \((disorder|finding|organism|procedure|qualifier value|record artifact|specimen|substance)\)$/;

/** Whether two wordings of a code say the same to a reader. */
export function saysTheSame(one: string, other: string): boolean {
  const plain = (words: string) => words.trim().replace(KIND, "").toLowerCase();
  return plain(one) === plain(other);
}

const CATALOGUES: Partial<Record<string, string>>[] = [en, de, fr, it];
const SAMPLE = /\b(specimen|sample)\b/gi;

/** Whether these are the words for the code in one of the languages. */
function isNameOf({ own, id }: CodedView): boolean {
  const plain = (words: string) => words.replace(KIND, "").replace(SAMPLE, "").trim();
  return CATALOGUES.some((words) => saysTheSame(plain(words[id] ?? ""), plain(own)));
}

/**
 * The reader's words for a value. Where the report has others, they tell which: a mere translation when the pointer rests
 * on it, and in sight what may be more than the code says, or something else.
 */
export function Said({ words, value, coded }: { words: string; value: string | null; coded: CodedView[] }) {
  const text = useText();
  const isOurs = coded.length > 0 && coded.every((of) => of.isOurs);
  if (value === null || isOurs || saysTheSame(words, value)) return words;
  const own = text("content.in-report", { words: value });
  if (coded.every((of) => of.isOurs || isNameOf(of))) return <span title={own}>{words}</span>;
  return (
    <>
      {words} <span className={css.own}>{own}</span>
    </>
  );
}
