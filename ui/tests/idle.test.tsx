// @vitest-environment jsdom
// Work that a person began and waits for: the window does not lock itself in the middle of it, and where it is left, that is told.

import { act } from "react";
import { afterEach, beforeEach, expect, it, vi } from "vitest";

import { useIdleLock, workGoesOn } from "../src/lock";
import { useRun } from "../src/parts/fix-run";
import { say } from "../src/kit/toasts";
import { render } from "./render";

vi.mock("#door", () => ({ door: {} }));
vi.mock("../src/kit/toasts", () => ({ say: vi.fn(), sayProblem: () => () => undefined, dismissAll: () => undefined }));

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it("the window locks itself after ten minutes, but not while work goes on", async () => {
  const lock = vi.fn();
  function Frame() {
    useIdleLock(10, false, lock);
    return null;
  }
  await render(<Frame />);
  for (let minute = 0; minute < 30; minute += 1) {
    await act(async () => vi.advanceTimersByTime(60_000));
    workGoesOn();
  }
  expect(lock).not.toHaveBeenCalled();
  // Work that stands still keeps no names on a screen that everybody has left.
  await act(async () => vi.advanceTimersByTime(601_000));
  expect(lock).toHaveBeenCalled();
});

it("corrections that were asked for and not begun are told where the dialog is gone", async () => {
  const asked: string[] = [];
  const none = { total: 1, completed: 0, moving: 20, attention: [], byState: {} };
  const here = {
    call: async (command: string) => {
      asked.push(command);
      return command === "fix" ? { submissions: [asked.length] } : none;
    },
  };
  let run: ReturnType<typeof useRun> | undefined;
  let close: () => void = () => undefined;
  function Frame() {
    run = useRun(here as never, { path: "p", find: "a", replace: "b" });
    return null;
  }
  const { createRoot } = await import("react-dom/client");
  const { WordsProvider, loadWords } = await import("../src/i18n/text");
  const words = await loadWords("en");
  const root = createRoot(document.createElement("div"));
  await act(async () =>
    root.render(
      <WordsProvider value={words}>
        <Frame />
      </WordsProvider>,
    ),
  );
  close = () => root.unmount();
  await act(async () => run?.goOn([1, 2, 3]));
  await act(async () => close());
  await act(async () => vi.advanceTimersByTimeAsync(1_000));
  expect(asked.filter((command) => command === "fix")).toHaveLength(1);
  expect(say).toHaveBeenCalledWith({
    tone: "attention",
    title: "Fixing them together was left: 1 sent, 2 reports are as they were",
  });
});
