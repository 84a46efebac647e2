// Codes of a report in the reader's language. A report brings words in the language of who has written it: they
// stay within reach wherever other words take their place.

import type { CodedView } from "../bridge/generated/CodedView";
import { useText } from "../i18n/text";
import type { Text } from "../i18n/text";

/** The reader's word for a code; nothing where the catalogue has none. */
export function wordOf(text: Text, ids: string[]): string | undefined {
  return ids.map((id) => text.code(id)).find((word) => word !== undefined);
}

/** A value with each code in it in the reader's words; all else, and a code that is not known, as in the report. */
export function inReadersWords(text: Text, value: string, coded: CodedView[]): string {
  let said = "";
  let from = 0;
  for (const { own, ids } of coded) {
    const at = value.indexOf(own, from);
    const word = wordOf(text, ids);
    if (at < 0 || word === undefined) continue;
    said += value.slice(from, at) + word;
    from = at + own.length;
  }
  return said + value.slice(from);
}

/** What SNOMED CT adds to a name to say of what kind it is. */
const KIND = / \((finding|organism|procedure|qualifier value|specimen)\)$/;

/** Whether two wordings of a code say the same to a reader. */
export function saysTheSame(one: string, other: string): boolean {
  const plain = (words: string) => words.replace(KIND, "").toLowerCase();
  return plain(one) === plain(other);
}

/** The reader's words for a value; where the report has others, they tell which. */
export function Said({ words, value, coded }: { words: string; value: string | null; coded: CodedView[] }) {
  const text = useText();
  const isOfReport = value !== null && !coded.some((of) => of.isOurs);
  if (!isOfReport || saysTheSame(words, value)) return words;
  return <span title={text("content.in-report", { words: value })}>{words}</span>;
}
