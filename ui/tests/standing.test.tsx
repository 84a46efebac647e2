// @vitest-environment jsdom
// What holds the queue, above every screen.

import { QueryClientProvider } from "@tanstack/react-query";
import { act } from "react";
import { beforeEach, expect, it, vi } from "vitest";

import type { ElsewhereView } from "../src/bridge/generated/ElsewhereView";
import type { Problem } from "../src/bridge/generated/Problem";
import type { StatusView } from "../src/bridge/generated/StatusView";
import { createCache } from "../src/bridge/queries";
import { Elsewhere, Standing } from "../src/parts/standing";
import { render } from "./render";

const call = vi.hoisted(() => vi.fn<(command: string, takes?: object) => Promise<unknown>>());
const say = vi.hoisted(() => vi.fn<(words: { tone: string; title: string }) => void>());

vi.mock("#door", () => ({ door: { call, here: () => ({ call }), listen: () => () => undefined } }));
vi.mock("../src/kit/toasts", () => ({ say, sayProblem: () => () => undefined }));

const problem: Problem = { code: "connect-refused", params: {}, blame: "network", remedy: "retry", trace: "" };

const known = {
  connection: "unreachable",
  problem,
  notices: [],
  elsewhere: [],
  laboratory: null,
  paused: false,
  triesAgain: true,
  counts: { byState: { queued: 3 }, inProgress: 3 },
};

const standing = (status: object) =>
  render(
    <QueryClientProvider client={createCache()}>
      <Standing status={{ ...known, ...status } as unknown as StatusView} />
    </QueryClientProvider>,
  );

/** An authority that is not in use, with reports that wait for it. */
const CANTON: ElsewhereView = {
  endpoint: "canton",
  environment: "production",
  count: 2,
  connection: "unreachable",
  problem,
  triesAgain: true,
};

const tryNow = (element: HTMLElement) => element.querySelector<HTMLButtonElement>('[data-testid="try-now"]');

beforeEach(() => {
  call.mockReset();
  say.mockReset();
});

it("offers nobody to try now what is tried again by itself, where no button would do it", async () => {
  const element = await render(
    <QueryClientProvider client={createCache()}>
      <Elsewhere waiting={{ ...CANTON, triesAgain: false }} />
    </QueryClientProvider>,
  );
  expect(element.querySelectorAll('[role="alert"]')).toHaveLength(1);
  expect(element.textContent).toContain("It is tried again by itself.");
  expect(element.textContent?.toLowerCase()).not.toContain("try again now");
});

it("lets a person try now where the next try waits for its time, and nowhere else", async () => {
  expect(tryNow(await standing({}))).not.toBeNull();
  expect(tryNow(await standing({ connection: "locked" }))).not.toBeNull();
  // No certificate, say: nothing would be tried.
  expect(tryNow(await standing({ connection: "locked", triesAgain: false }))).toBeNull();
});

it("tries the very authority that is named, in use or not", async () => {
  const quiet = { connection: "connected", problem: null, triesAgain: false, endpoint: "federal" };
  const element = await standing({ ...quiet, elsewhere: [CANTON] });
  await act(async () => tryNow(element)?.click());
  expect(call).toHaveBeenCalledWith("try_now", { endpoint: "canton" });
  expect(tryNow(await standing({ ...quiet, elsewhere: [{ ...CANTON, triesAgain: false }] }))).toBeNull();
});

it.each([
  [true, "done", "The authority answers again"],
  [false, "attention", "Tried just now, without success"],
])("says what came of it: connected %s", async (connected, tone, title) => {
  call.mockImplementation((command) => Promise.resolve(command === "try_now" ? connected : null));
  const button = tryNow(await standing({}));
  await act(async () => {
    button?.click();
    await new Promise((resolve) => setTimeout(resolve, 20));
  });
  expect(call.mock.calls.map(([command]) => command)).toContain("try_now");
  expect(say).toHaveBeenCalledWith(expect.objectContaining({ tone, title }));
});
