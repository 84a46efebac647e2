// @vitest-environment jsdom
// What was taken back before it left: it goes after all by the same words everywhere, without a reason.

import { QueryClientProvider } from "@tanstack/react-query";
import { act, useState } from "react";
import type { ReactNode } from "react";
import { beforeEach, expect, it, vi } from "vitest";

import type { RowView } from "../src/bridge/generated/RowView";
import { detail } from "../src/bridge/mock/detail";
import { UNKNOWN_CODE, WRONG_DATE } from "../src/bridge/mock/messages";
import { row } from "../src/bridge/mock/reports";
import { createCache } from "../src/bridge/queries";
import { causesOf } from "../src/causes";
import { IntakeContext } from "../src/intake";
import type { IntakeDesk } from "../src/intake";
import { BulkBar } from "../src/parts/bulk-bar";
import type { Window } from "../src/place";
import { CausePage } from "../src/screens/cause";
import { Detail } from "../src/screens/detail";
import type { Selection } from "../src/selection";
import { render } from "./render";

const { call } = vi.hoisted(() => ({ call: vi.fn() }));
vi.mock("#door", () => ({ door: { call, here: () => ({ call }) } }));
// The library of the dialogs asks for it.
vi.stubGlobal("CSS", { escape: (text: string) => text });

const by = (id: string) => document.querySelector<HTMLElement>(`[data-testid="${id}"]`);
const press = (element: HTMLElement | null) => act(async () => element?.click());
const DECIDED = { sent: [], done: [], refused: [] };
const WHY = "It was taken back before it left, and is sent after all";

const held = (id: number, of: Partial<RowView>): RowView => ({
  ...row(id, 11, 0),
  state: "held",
  actions: ["correct", "release", "withdraw"],
  message: null,
  errors: 0,
  ...of,
});
const REPETITION = { takenBack: "repetition", message: UNKNOWN_CODE, errors: 1 } as const;
const CORRECTION = { takenBack: "correction" } as const;
const NEW = { takenBack: "new" } as const;

beforeEach(() => {
  call.mockReset();
  call.mockImplementation(async (name: string) => (name === "decide" ? DECIDED : []));
  document.body.replaceChildren();
});

const shown = (node: ReactNode, own: Partial<Window> = {}) =>
  render(
    <QueryClientProvider client={createCache()}>
      <IntakeContext value={{ followed: vi.fn() } as unknown as IntakeDesk}>{node}</IntakeContext>
    </QueryClientProvider>,
    "en",
    own,
  );

async function page(rows: RowView[], of: { onFix?: () => void } = {}, own: Partial<Window> = {}) {
  const [cause] = causesOf(rows);
  if (!cause) throw new Error("no cause");
  const nothing = () => undefined;
  return await shown(
    <CausePage
      cause={cause}
      isWhole
      isCut={false}
      corrected={undefined}
      last={null}
      onShow={nothing}
      onFix={of.onFix ?? nothing}
    />,
    own,
  );
}

it("offers to send one first of what was taken back for one cause, and asks for no reason", async () => {
  const element = await page([held(7, REPETITION), held(8, REPETITION), held(9, REPETITION)]);
  expect(element.textContent).toContain("3 reports are on hold: they were to be sent again unchanged");
  expect(by("cause-release")).toBeNull();
  expect(by("send-after-all")?.textContent).toBe("Send 3 after all");
  await press(by("send-after-all"));
  expect(document.querySelector("[role=dialog] h2")?.textContent).toBe("Send 3 reports after all?");
  expect(by("reason")).toBeNull();
  await press(by("resubmit-one"));
  expect(call).toHaveBeenCalledWith("decide", { ids: [7], decision: "release", reason: WHY });
});

it("sends a single correction that was taken back with one press", async () => {
  const element = await page([held(7, CORRECTION)]);
  expect(element.textContent).toContain("1 correction is on hold: it was taken back before it left.");
  await press(by("send-after-all"));
  expect(call).toHaveBeenCalledWith("decide", { ids: [7], decision: "release", reason: WHY });
});

it("a new report that was taken back is nothing to be corrected, and goes with one press", async () => {
  const warned = { ...NEW, message: { ...WRONG_DATE, severity: "warning" as const } };
  const rows = [held(7, NEW), held(8, NEW), held(9, warned)];
  const element = await page(rows);
  expect(element.querySelector("h2")?.textContent).toBe("Taken back, not sent yet");
  expect(element.textContent).not.toContain("correct");
  expect(element.textContent).not.toContain("somebody has stopped");
  expect(by("cause-release")).toBeNull();
  expect(element.querySelector("[data-calm]")?.textContent).toBe("3");
  expect(by("send-after-all")?.textContent).toBe("Send 3 after all");
  await press(by("send-after-all"));
  expect(document.querySelector("[role=dialog]")).toBeNull();
  expect(call).toHaveBeenCalledWith("decide", { ids: [7, 8, 9], decision: "release", reason: WHY });
  const stopped = held(10, {});
  expect(causesOf([...rows, stopped, held(11, CORRECTION)])).toHaveLength(3);
});

it("a correction of many that was broken off is offered to be taken up, and hides who is meant", async () => {
  const left = { path: "Patient.name.family", find: "Muster-Fehler", replace: "Muster", sent: 4, rest: [7, 8, 5] };
  call.mockImplementation(async (name: string) =>
    name === "status" ? { room: 4 } : name === "unfinished_fixes" ? [left] : [],
  );
  const failed = (id: number) => ({ ...row(id, 1, 0), message: WRONG_DATE });
  for (const reveal of [true, false]) {
    const onFix = vi.fn();
    await page([failed(7), failed(8), failed(9)], { onFix }, { reveal });
    await vi.waitFor(() => expect(by("fix-broken-off")).not.toBeNull());
    const said = by("fix-broken-off")?.textContent;
    expect(said).toContain("4 sent, 2 left.");
    expect(said?.includes("“Muster-Fehler” replaced by “Muster”.")).toBe(reveal);
    await press(by("fix-take-up"));
    expect(onFix).toHaveBeenCalledWith([7, 8], left);
    document.body.replaceChildren();
  }
});

it("still asks why a report with errors of its own is sent anyway", async () => {
  const element = await page([held(7, { message: WRONG_DATE, errors: 1 })]);
  expect(element.textContent).toContain("1 report is on hold: errors were found in it before it was sent.");
  expect(by("send-after-all")).toBeNull();
  await press(by("cause-release"));
  expect(by("reason")).not.toBeNull();
});

it("says of the one that goes first that no draft is lost by it, and of all of them how many", async () => {
  await page([held(7, { ...REPETITION, draft: true }), held(8, REPETITION), held(9, REPETITION)]);
  await press(by("send-after-all"));
  await press(document.querySelector('input[role="switch"]'));
  expect(by("drafts-note")?.textContent).toContain("is lost if all of them are sent; the first to go has none");
  await press(by("resubmit-one"));
  expect(call).toHaveBeenCalledWith("decide", { ids: [8], decision: "release", reason: WHY });
});

it("says what is lost by the first and by all where each has a draft", async () => {
  await page([held(7, { ...REPETITION, draft: true }), held(8, { ...REPETITION, draft: true })]);
  await press(by("send-after-all"));
  expect(by("drafts-note")?.textContent).toContain("sending one first loses its own, sending all loses all 2");
});

it("is sent after all from the report itself without a reason", async () => {
  const report = detail(held(7, CORRECTION), "Muster, Mia");
  const quiet = { ...report, attempts: 0, messages: [], timeline: [] };
  call.mockImplementation(async (name: string) => (name === "detail" ? quiet : name === "draft" ? null : []));
  await shown(<Detail id={7} onClose={vi.fn()} onShow={vi.fn()} />);
  await vi.waitFor(() => expect(by("action-release")?.textContent).toBe("Send it after all"));
  await press(by("action-release"));
  expect(by("reason")).toBeNull();
  expect(call).toHaveBeenCalledWith("release", { id: 7, reason: WHY });
});

it("is told from what is sent anyway among reports that are chosen together", async () => {
  const chosen = { count: 3, actions: { release: 3 }, drafts: {}, takenBack: [7, 8] };
  call.mockImplementation(async (name: string) => (name === "chosen" ? chosen : DECIDED));
  const selection = { ids: new Set([7, 8, 9]), clear: vi.fn() } as unknown as Selection;
  await shown(<BulkBar selection={selection} total={3} hidden={0} onAll={vi.fn()} onDecided={vi.fn()} />);
  await vi.waitFor(() => expect(by("bulk-release")?.textContent).toBe("Send anyway (1)"));
  expect(by("send-after-all")?.textContent).toBe("Send 2 after all");
  await press(by("send-after-all"));
  expect(call).toHaveBeenCalledWith("decide", { ids: [7, 8], decision: "release", reason: WHY });
});

it("tells whoever leaves a report unsent of its other version, which may still be sent", async () => {
  const failed = { ...row(7, 1, 0), state: "failed" as const, actions: ["withdraw" as const] };
  const report = { ...detail(failed, "Muster, Mia"), waitingVersions: [12] };
  call.mockImplementation(async (name: string) => (name === "detail" ? report : []));
  await shown(<Detail id={7} onClose={vi.fn()} onShow={vi.fn()} />);
  for (const action of ["action-not-reportable", "action-withdraw"]) {
    await vi.waitFor(() => expect(by(action)).not.toBeNull());
    await press(by(action));
    expect(by("other-versions")?.textContent).toContain("Another version of this report waits");
    await press(document.querySelector("[role=dialog] header button"));
  }
});

it("is never sent after all of reports that are no longer chosen", async () => {
  let answer: (view: object) => void = vi.fn();
  const chosen = { count: 2, actions: { release: 2 }, drafts: {}, takenBack: [7, 8] };
  call.mockImplementation((name: string, args: { ids: number[] }) => {
    if (name !== "chosen") return Promise.resolve(DECIDED);
    // What is said of one alone is on its way.
    return args.ids.length === 2 ? Promise.resolve(chosen) : new Promise((resolve) => (answer = resolve));
  });
  function Bar() {
    const [ids, setIds] = useState([7, 8]);
    const selection = { ids: new Set(ids), clear: vi.fn() } as unknown as Selection;
    return (
      <>
        <button type="button" data-testid="fewer" onClick={() => setIds([8])} />
        <BulkBar selection={selection} total={3} hidden={0} onAll={vi.fn()} onDecided={vi.fn()} />
      </>
    );
  }
  await shown(<Bar />);
  await vi.waitFor(() => expect(by("send-after-all")).not.toBeNull());
  await press(by("fewer"));
  await press(by("send-after-all"));
  expect(call).toHaveBeenCalledWith("decide", { ids: [8], decision: "release", reason: WHY });
  await act(async () => answer(chosen));
});
