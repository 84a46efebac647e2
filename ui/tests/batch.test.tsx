// @vitest-environment jsdom
// The bar of what was just sent: after it was taken back, and while sending is paused.

import { QueryClientProvider } from "@tanstack/react-query";
import { act } from "react";
import { beforeEach, expect, it, vi } from "vitest";

import type { CandidateView } from "../src/bridge/generated/CandidateView";
import { createCache } from "../src/bridge/queries";
import { IntakeContext } from "../src/intake";
import type { Batch, IntakeDesk } from "../src/intake";
import { BatchBar } from "../src/parts/batch";
import { HOME } from "../src/place";
import type { Place } from "../src/place";
import { render } from "./render";

const { call, closeBatch } = vi.hoisted(() => ({ call: vi.fn(), closeBatch: vi.fn() }));
vi.mock("#door", () => ({ door: { call, here: () => ({ call }) } }));
// The library of the dialogs asks for it.
vi.stubGlobal("CSS", { escape: (text: string) => text });

const NOTHING = {
  total: 2,
  byState: {},
  completed: 0,
  closed: 0,
  moving: 0,
  causes: 0,
  waiting: [],
  attention: [],
  undoUntil: null,
  secondsLeft: null,
};

async function shown(view: object, batch: Partial<Batch>, status: object = {}, place: Place = HOME.reports) {
  const answers: Record<string, unknown> = {
    taking: { done: 0, total: 0, underWay: false },
    batch: { ...NOTHING, ...view },
    status: { room: "real", ...status },
  };
  call.mockImplementation(async (name: string) => answers[name] ?? { sent: [], done: [], refused: [] });
  const desk = { batch: { ids: [7, 8], rest: [], sentAt: 1, held: null, ...batch }, closeBatch };
  return await render(
    <QueryClientProvider client={createCache()}>
      <IntakeContext value={desk as unknown as IntakeDesk}>
        <BatchBar onCertificate={() => undefined} />
      </IntakeContext>
    </QueryClientProvider>,
    "en",
    { place },
  );
}

const by = (id: string) => document.querySelector<HTMLElement>(`[data-testid="${id}"]`);

beforeEach(() => {
  call.mockReset();
  document.body.replaceChildren();
});

it("sends what was taken back after all, and has nothing of it to correct", async () => {
  await shown({ byState: { held: 2 }, attention: [7, 8] }, { held: { count: 2, ids: [7, 8] } });
  await vi.waitFor(() => expect(by("send-after-all")).not.toBeNull());
  expect(by("batch-correct")).toBeNull();
  await act(async () => by("send-after-all")?.click());
  expect(call).toHaveBeenCalledWith("decide", expect.objectContaining({ ids: [7, 8], decision: "release" }));
});

it("has to correct what its findings had put on hold before the rest was taken back", async () => {
  await shown({ total: 2, byState: { held: 2 }, attention: [7, 8] }, { held: { count: 2, ids: [7] } });
  await vi.waitFor(() => expect(by("batch-correct")?.textContent).toContain("Correct it"));
});

it("offers nothing of the kind once one of them is no longer on hold", async () => {
  await shown({ byState: { held: 1, failed: 1 }, attention: [7, 8] }, { held: { count: 2, ids: [7, 8] } });
  await vi.waitFor(() => expect(by("batch-correct")?.textContent).toContain("Correct 2"));
  expect(by("send-after-all")).toBeNull();
});

it("does not say that reports are on the way or leave soon while sending is paused", async () => {
  const moving = await shown({ byState: { queued: 2 }, moving: 2, waiting: [7, 8] }, {}, { paused: true });
  await vi.waitFor(() => expect(moving.textContent).toContain("2 reports wait: sending is paused"));
  expect(moving.textContent).not.toContain("on the way");
  const undoUntil = new Date(Date.now() + 60_000).toISOString();
  const soon = await shown({ byState: { queued: 2 }, moving: 2, waiting: [7, 8], undoUntil }, {}, { paused: true });
  await vi.waitFor(() => expect(soon.querySelector("strong")?.textContent).toContain("sending is paused"));
});

it.each(["unreachable", "locked"])(
  "says that reports wait for the connection, not that they move (%s)",
  async (connection) => {
    const element = await shown({ byState: { queued: 2 }, moving: 2 }, {}, { connection });
    await vi.waitFor(() => expect(by("held-up")?.textContent).toBe("2 wait for the connection"));
    expect(element.textContent).not.toContain("on the way");
  },
);

it("offers no way to the list of what is to correct on that very list", async () => {
  const view = { byState: { failed: 2 }, attention: [7, 8], causes: 1 };
  await shown(view, {}, {}, HOME.correct);
  await vi.waitFor(() => expect(by("batch")?.dataset.phase).toBe("settled"));
  expect(by("batch-correct")).toBeNull();
  await shown(view, {}, {}, { screen: "correct", open: null, cause: "x" });
  await vi.waitFor(() => expect(by("batch-correct")).not.toBeNull());
});

it("is put away by a button once all answers are there", async () => {
  const element = await shown({ byState: { completed: 1, failed: 1 }, completed: 1, attention: [8], causes: 1 }, {});
  const close = () => element.querySelector<HTMLElement>('button[aria-label="Close"]');
  await vi.waitFor(() => expect(by("batch")?.dataset.phase).toBe("settled"));
  expect(closeBatch).not.toHaveBeenCalled();
  await act(async () => close()?.click());
  expect(closeBatch).toHaveBeenCalledOnce();
});

it("has a button for a CA among the files that were not sent", async () => {
  const ca = { file: "/in/ca.pem", kind: "certificate", verdict: "refused", messages: [], digest: "", known: null };
  await shown({ completed: 2, byState: { completed: 2 } }, { rest: [ca as unknown as CandidateView] });
  call.mockImplementation(async (name: string) => {
    if (name !== "certificate_inspect") return NOTHING;
    throw { code: "certificate-ca-without-key", params: {}, blame: "you", remedy: "choose-other-file", trace: "" };
  });
  const rest = () => [...document.querySelectorAll("button")].find((one) => one.textContent === "1 file not sent");
  await vi.waitFor(() => expect(rest()).toBeDefined());
  await act(async () => rest()?.click());
  await vi.waitFor(() => expect(by("use-as-ca")).not.toBeNull());
});

it("shows how far a list is that the page before has handed over, takes it back, and goes once that has ended", async () => {
  let taking = { done: 3, total: 9, underWay: true };
  call.mockImplementation(async (name: string) => (name === "taking" ? taking : name === "batch" ? NOTHING : {}));
  const desk = { batch: null, taking: null, closeBatch };
  await render(
    <QueryClientProvider client={createCache()}>
      <IntakeContext value={desk as unknown as IntakeDesk}>
        <BatchBar onCertificate={() => undefined} />
      </IntakeContext>
    </QueryClientProvider>,
  );
  await vi.waitFor(() => expect(by("taking")?.textContent).toContain("3 of 9 taken in"));
  await act(async () => by("undo")?.click());
  expect(call).toHaveBeenCalledWith("stop_taking");
  taking = { ...taking, underWay: false };
  await vi.waitFor(() => expect(by("taking")).toBeNull());
});
