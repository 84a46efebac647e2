// @vitest-environment jsdom
// A corrected file in place of a report: what somebody has begun to correct there is not lost without a word, and what is
// being kept of a correction does not come after it.

import { QueryClientProvider } from "@tanstack/react-query";
import { act, useState } from "react";
import { beforeEach, expect, it, vi } from "vitest";

import { detail } from "../src/bridge/mock/detail";
import { candidate, row } from "../src/bridge/mock/reports";
import { createCache } from "../src/bridge/queries";
import { useKeptDraft } from "../src/parts/draft";
import type { KeptDraft } from "../src/parts/draft";
import { CorrectionQuestion } from "../src/parts/drop";
import { render } from "./render";

const { call } = vi.hoisted(() => ({ call: vi.fn() }));
vi.mock("#door", () => ({ door: { call, here: () => ({ call }) } }));
// The library of the dialogs asks for it.
vi.stubGlobal("CSS", { escape: (text: string) => text });

const by = (id: string) => document.querySelector<HTMLElement>(`[data-testid="${id}"]`);
const called = (name: string) => call.mock.calls.some(([command]) => command === name);

beforeEach(() => {
  call.mockReset();
  document.body.replaceChildren();
});

async function asked(draft: boolean, loses?: boolean) {
  const report = detail({ ...row(7, 7, 0), state: "failed", draft }, "Muster, Mia");
  const found = [{ ...candidate("/in/corrected.json", 1), corrects: null }];
  call.mockImplementation(async (name: string) => (name === "detail" ? report : name === "inspect_files" ? found : {}));
  await render(
    <QueryClientProvider client={createCache()}>
      <CorrectionQuestion
        id={7}
        path="/in/corrected.json"
        {...(loses !== undefined && { loses })}
        onDone={vi.fn()}
        onClose={vi.fn()}
      />
    </QueryClientProvider>,
  );
  await vi.waitFor(() => expect(by("drop-correct")?.hasAttribute("disabled")).toBe(false));
}

const ctrlEnter = () =>
  act(async () => document.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", ctrlKey: true, bubbles: true })));

it("says that a draft is lost, and takes a press on its button", async () => {
  await asked(true);
  await vi.waitFor(() => expect(by("drafts-note")?.textContent).toContain("The draft is lost by it"));
  await ctrlEnter();
  expect(called("correct_with_file")).toBe(false);
  await act(async () => by("drop-correct")?.click());
  expect(called("correct_with_file")).toBe(true);
});

it("is sent by the key where nothing is lost", async () => {
  await asked(false);
  expect(by("drafts-note")).toBeNull();
  await ctrlEnter();
  expect(called("correct_with_file")).toBe(true);
});

it("says so of what stands in the open correction, kept or not", async () => {
  await asked(false, true);
  expect(by("drafts-note")).not.toBeNull();
});

it("keeps nothing while a file is about to take the report's place, and tells what is under way", async () => {
  vi.useFakeTimers();
  let told: () => void = vi.fn();
  call.mockImplementation(() => new Promise((done) => (told = () => done(null))));
  let keep: KeptDraft | undefined;
  function Typist() {
    const [now, set] = useState({ content: "sent", waits: false });
    keep = useKeptDraft(7, now.content, "sent", now.waits);
    return (
      <>
        <button type="button" data-testid="type" onClick={() => set({ content: "first", waits: false })} />
        <button type="button" data-testid="drop" onClick={() => set({ content: "second", waits: true })} />
      </>
    );
  }
  await render(
    <QueryClientProvider client={createCache()}>
      <Typist />
    </QueryClientProvider>,
  );
  await act(async () => by("type")?.click());
  await act(async () => vi.advanceTimersByTime(1_000));
  expect(call).toHaveBeenCalledTimes(1);
  const over = vi.fn();
  void keep?.underWay().then(over);
  await act(async () => by("drop")?.click());
  await act(async () => vi.advanceTimersByTime(1_000));
  expect(call).toHaveBeenCalledTimes(1);
  expect(over).not.toHaveBeenCalled();
  await act(async () => told());
  expect(over).toHaveBeenCalled();
  vi.useRealTimers();
});
