// @vitest-environment jsdom
// A table that is saved as a file, wherever the window shows one.

import { QueryClientProvider } from "@tanstack/react-query";
import { act } from "react";
import { expect, it, vi } from "vitest";

import { createCache } from "../src/bridge/queries";
import { IntakeContext } from "../src/intake";
import type { IntakeDesk } from "../src/intake";
import { Overview } from "../src/screens/overview";
import { StatementDialog } from "../src/screens/statement";
import { render } from "./render";

const { saved } = vi.hoisted(() => ({ saved: [] as string[] }));

vi.mock("#door", async () => {
  const { door } = await import("../src/bridge/mock/browser");
  const call = (command: string, takes: { text: string }) =>
    command === "save_table"
      ? Promise.resolve(saved.push(takes.text) > 0)
      : (door.call as (command: string, takes: unknown) => Promise<unknown>)(command, takes);
  return { door: { ...door, call } };
});

// What the library needs of a browser.
vi.stubGlobal("CSS", { escape: (text: string) => text });

it.each([
  ["the days of the overview", <Overview key="overview" stating={false} />, "save-csv", /^Day,.+\r\n/],
  ["the daily statement", <StatementDialog key="statement" onClose={() => undefined} />, "statement-save-csv", /^id,/],
])("%s are saved as a file", async (_, screen, button, begins) => {
  saved.length = 0;
  await render(
    <QueryClientProvider client={createCache()}>
      <IntakeContext value={{} as IntakeDesk}>{screen}</IntakeContext>
    </QueryClientProvider>,
  );
  const press = () => document.querySelector<HTMLElement>(`[data-testid="${button}"]`);
  await vi.waitFor(() => expect(press()).not.toBeNull());
  await act(async () => press()?.click());
  expect(saved).toEqual([expect.stringMatching(begins)]);
});
