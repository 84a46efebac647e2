// @vitest-environment jsdom
// A decision about reports of which somebody has begun to correct some: said with the number, and these left out.

import { QueryClientProvider } from "@tanstack/react-query";
import { act, useState } from "react";
import { beforeEach, expect, it, vi } from "vitest";

import { createCache } from "../src/bridge/queries";
import { IntakeContext } from "../src/intake";
import type { IntakeDesk } from "../src/intake";
import { BulkBar } from "../src/parts/bulk-bar";
import { LosingReason, SendAgain } from "../src/parts/drafts";
import type { Selection } from "../src/selection";
import { render } from "./render";

const { call } = vi.hoisted(() => ({ call: vi.fn() }));
vi.mock("#door", () => ({ door: { call } }));

// The library of the dialogs asks for it.
vi.stubGlobal("CSS", { escape: (text: string) => text });

const by = (id: string) => document.querySelector<HTMLElement>(`[data-testid="${id}"]`);
const leaveOut = () => document.querySelector<HTMLElement>('input[role="switch"]');
const press = (element: HTMLElement | null) => act(async () => element?.click());
const heading = () => document.querySelector("h2")?.textContent;

beforeEach(() => {
  call.mockReset();
  document.body.replaceChildren();
});

async function bulk(drafts: object) {
  call.mockImplementation(async (name: string) =>
    name === "chosen"
      ? { count: 3, actions: { resubmit: 3 }, drafts, takenBack: [] }
      : { sent: [], done: [], refused: [] },
  );
  const selection = { ids: new Set([7, 8, 9]), clear: vi.fn() } as unknown as Selection;
  await render(
    <QueryClientProvider client={createCache()}>
      <IntakeContext value={{ followed: vi.fn() } as unknown as IntakeDesk}>
        <BulkBar selection={selection} total={3} hidden={0} onAll={vi.fn()} onDecided={vi.fn()} />
      </IntakeContext>
    </QueryClientProvider>,
  );
  await vi.waitFor(() => expect(by("bulk-resubmit")).not.toBeNull());
  await press(by("bulk-resubmit"));
}

it("asks before many are sent again, and leaves out those with a draft", async () => {
  await bulk({ resubmit: [8] });
  expect(heading()).toBe("Send 2 reports again unchanged?");
  expect(by("drafts-note")?.textContent).toContain("1 of these has a correction that somebody has begun. It is left");
  await press(by("draft-lost"));
  expect(call).toHaveBeenCalledWith("decide", { ids: [7, 9], decision: "resubmit", reason: "" });
});

it("asks nothing where no draft would be lost", async () => {
  await bulk({ withdraw: [8] });
  expect(by("drafts-note")).toBeNull();
  expect(call).toHaveBeenCalledWith("decide", { ids: [7, 8, 9], decision: "resubmit", reason: "" });
});

it("waits for what is said of the reports that are chosen now before it sends them", async () => {
  let answer: (view: object) => void = vi.fn();
  const chosen = (drafts: object) => ({ count: 1, actions: { resubmit: 1 }, drafts, takenBack: [] });
  call.mockImplementation((name: string, args: { ids: number[] }) => {
    if (name !== "chosen" || args.ids.length === 1) return Promise.resolve(chosen({}));
    return new Promise((resolve) => (answer = resolve));
  });
  function Bar() {
    const [ids, setIds] = useState([7]);
    return (
      <>
        <button type="button" data-testid="more" onClick={() => setIds([7, 8])} />
        <BulkBar
          selection={{ ids: new Set(ids), clear: vi.fn() } as unknown as Selection}
          total={3}
          hidden={0}
          onAll={vi.fn()}
          onDecided={vi.fn()}
        />
      </>
    );
  }
  await render(
    <QueryClientProvider client={createCache()}>
      <IntakeContext value={{ followed: vi.fn() } as unknown as IntakeDesk}>
        <Bar />
      </IntakeContext>
    </QueryClientProvider>,
  );
  await vi.waitFor(() => expect(by("bulk-resubmit")).not.toBeNull());
  await press(by("more"));
  await press(by("bulk-resubmit"));
  expect(call).not.toHaveBeenCalledWith("decide", expect.anything());
  await act(async () => answer({ ...chosen({ resubmit: [8] }), count: 2, actions: { resubmit: 2 } }));
  await vi.waitFor(() => expect(by("drafts-note")).not.toBeNull());
  expect(call).not.toHaveBeenCalledWith("decide", expect.anything());
});

it("says what is lost once they are not left out", async () => {
  const send = vi.fn();
  await render(
    <SendAgain about={{ ids: [7, 8, 9], drafts: [8, 9] }} isPending={false} onSend={send} onClose={vi.fn()} />,
  );
  expect(heading()).toBe("Send 1 report again unchanged?");
  await press(leaveOut());
  expect(by("drafts-note")?.textContent).toContain("They are lost; that cannot be undone.");
  expect(heading()).toBe("Send 3 reports again unchanged?");
  await press(by("draft-lost"));
  expect(send).toHaveBeenCalledWith([7, 8, 9]);
});

const asked = (about: { ids: number[]; drafts: number[] }) =>
  render(
    <LosingReason
      about={about}
      title={(n) => `About ${n}?`}
      explanation={() => ""}
      confirm={() => "Do it"}
      isPending={false}
      onConfirm={vi.fn()}
      onClose={vi.fn()}
    />,
  );

it("has nothing to leave out where each of them has a draft", async () => {
  await asked({ ids: [7, 8], drafts: [7, 8] });
  expect(heading()).toBe("About 2?");
  expect(by("drafts-note")?.textContent).toContain("They are lost");
  expect(leaveOut()).toBeNull();
});

it("says what a decision about a single report loses", async () => {
  await asked({ ids: [7], drafts: [7] });
  expect(by("drafts-note")?.textContent).toBe(
    "Somebody has begun to correct this report. The draft is lost by it; that cannot be undone.",
  );
  expect(leaveOut()).toBeNull();
});
