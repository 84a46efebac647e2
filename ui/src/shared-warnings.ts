// Warnings that many files of a list have in common: said once, they make none of the files stand out.

import type { MessageView } from "./bridge/generated/MessageView";
import type { Text } from "./i18n/text";
import type { Source } from "./intake";
import { sentenceOf } from "./parts/said";

/** One of the messages, and how many files have one like it. */
export interface Shared {
  message: MessageView;
  n: number;
}

/** From so many files on a warning is said once for all of them. */
const MANY = 3;

/** Warnings with the same key say the same of each file; only their values differ. */
export const sharedKey = ({ severity, code, rule }: MessageView): string => [severity, code, rule ?? ""].join(" ");

/** What is said once, by its key. An error is told where it is, however many have it. */
export function sharedWarnings(sources: Source[]): ReadonlyMap<string, Shared> {
  const found = sources
    .flatMap((source) => source.found ?? [])
    .filter(({ verdict }) => verdict === "warnings" || verdict === "errors");
  const all = new Map<string, Shared>();
  for (const { messages } of found) {
    const own = new Map(
      messages.filter(({ severity }) => severity !== "error").map((message) => [sharedKey(message), message]),
    );
    for (const [key, message] of own) {
      const known = all.get(key);
      all.set(key, { message: known?.message ?? message, n: (known?.n ?? 0) + 1 });
    }
  }
  return new Map([...all].filter(([, { n }]) => n >= MANY));
}

/** The sentence for all: one of its own where values differ from file to file, else that of the first. */
export function sentenceOfShared(text: Text, message: MessageView, n: number): string {
  return (
    text.code(`send.shared.${message.code}`, { n }) ?? text("send.shared", { n, sentence: sentenceOf(text, message) })
  );
}
