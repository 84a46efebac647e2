// @vitest-environment jsdom
// What the statement of a day says of corrections: each is a report of its own there, and no further case.

import { QueryClientProvider } from "@tanstack/react-query";
import { expect, it, vi } from "vitest";

import { createCache } from "../src/bridge/queries";
import { StatementDialog } from "../src/screens/statement";
import { render } from "./render";

const { call } = vi.hoisted(() => ({ call: vi.fn() }));
vi.mock("#door", () => ({ door: { call, here: () => ({ call }) } }));
vi.stubGlobal("CSS", { escape: (text: string) => text });

const of = (id: number, state: string, corrects: number | null) => ({
  id,
  state,
  corrects,
  created: "2026-11-01T08:00:00Z",
  environment: "production",
  endpoint: "authority",
  digest: "d",
});

it("says which reports of the day are no further cases", async () => {
  const entries = [of(1, "superseded", null), of(2, "completed", 1)];
  const proof = { chainEvent: 3, chainHash: "h", version: "0", made: "2026-11-01T09:00:00Z", isCut: false };
  call.mockImplementation(async (name: string) =>
    name === "statement" ? { date: "2026-11-01", entries, ...proof } : {},
  );
  await render(
    <QueryClientProvider client={createCache()}>
      <StatementDialog onClose={vi.fn()} />
    </QueryClientProvider>,
  );
  const said = () => document.querySelector('[data-testid="statement-corrections"]');
  await vi.waitFor(() => expect(said()).not.toBeNull());
  expect(said()?.textContent).toBe("1 of them took the place of an earlier one: it is no further case.");
});
