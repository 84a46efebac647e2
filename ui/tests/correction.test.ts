// What is said of a correction beside the bar that follows it.

import { beforeEach, expect, it, vi } from "vitest";

import type { IntakeView } from "../src/bridge/generated/IntakeView";
import { loadWords } from "../src/i18n/text";
import { afterCorrection } from "../src/parts/correction";

const { said, known } = vi.hoisted(() => ({ said: [] as string[], known: { goesByItself: false } }));

vi.mock("#door", () => ({ door: { call: async () => known } }));
vi.mock("../src/kit/toasts", () => ({ say: ({ title }: { title: string }) => said.push(title) }));

beforeEach(() => said.splice(0));

async function corrected(submission: number | null, verdict: string): Promise<number[]> {
  const shown: number[] = [];
  const { text } = await loadWords("en");
  const view = { submissions: [submission], files: [{ verdict }] } as unknown as IntakeView;
  afterCorrection(view, text, (id) => shown.push(id));
  await Promise.resolve();
  return shown;
}

it("says nothing of one that the bar follows to its end", async () => {
  known.goesByItself = false;
  expect(await corrected(8, "ready")).toEqual([8]);
  expect(said).toEqual([]);
});

it.each([
  [8, "errors", false],
  [8, "ready", true],
  [null, "known", false],
])("says what the bar does not: %s, %s, waits: %s", async (submission, verdict, waits) => {
  known.goesByItself = waits;
  await corrected(submission, verdict);
  expect(said).toHaveLength(1);
});
