// The files of the watched folder of the made-up core: some that it refuses, and some that reports came from.

import type { MessageView } from "../generated/MessageView";
import type { WatchedFilesView } from "../generated/WatchedFilesView";
import type { Answers } from "./answers";
import { BLANK } from "./messages";

const PDF: MessageView = { ...BLANK, code: "not-a-report", params: { kind: "pdf", "resource-type": "" } };
const EMPTY: MessageView = { ...BLANK, code: "file-empty", params: {} };

/** Some, where there are any. */
export function createWatched(isAny: boolean, now: number) {
  const at = (minutes: number) => new Date(now - minutes * 60_000).toISOString();
  const name = (reveal: boolean, shown: string, masked: string) => (reveal ? shown : masked);
  const watched_files = ({ reveal }: { reveal: boolean }): WatchedFilesView => ({
    refusedCount: 2,
    refused: [
      { file: name(reveal, "Befund 4711.pdf", "B… 4….pdf"), changed: at(12), message: PDF },
      { file: name(reveal, "befund-4712.json", "b…-4….json"), changed: at(3_000), message: EMPTY },
    ],
    taken: [
      { file: name(reveal, "befund-4713.json", "b…-4….json"), at: at(5), id: 3, state: "in-progress" },
      { file: name(reveal, "befund-4709.xml", "b…-4….xml"), at: at(90), id: 2, state: "completed" },
    ],
  });
  const none: WatchedFilesView = { refusedCount: 0, refused: [], taken: [] };
  const answers = { watched_files: (takes) => (isAny ? watched_files(takes) : none) } satisfies Partial<Answers>;
  return { answers };
}
