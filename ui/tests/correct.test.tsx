// @vitest-environment jsdom
// To correct, where more reports need a person than are ordered at a time: what is shown says so, and all can be ordered.

import { QueryClientProvider } from "@tanstack/react-query";
import { act } from "react";
import { expect, it, vi } from "vitest";

import { createCache } from "../src/bridge/queries";
import { UNKNOWN_CODE } from "../src/bridge/mock/messages";
import { row } from "../src/bridge/mock/reports";
import type { ListQuery } from "../src/bridge/generated/ListQuery";
import { IntakeContext } from "../src/intake";
import type { IntakeDesk } from "../src/intake";
import { Correct } from "../src/screens/correct";
import { render } from "./render";

const TOTAL = 7_300;
/** The newest have one cause; of the older ones some have another. */
const OTHER = 300;
const { asked } = vi.hoisted(() => ({ asked: [] as (number | null)[] }));

vi.mock("#door", () => ({
  door: {
    call: async (command: string, takes?: { query: ListQuery }) => {
      if (command === "status") return { counts: {}, notices: [] };
      if (command !== "list" || !takes) return [];
      const { group, before, limit } = takes.query;
      if (group === null) return { rows: [], next: null, total: 0 };
      asked.push(before);
      const from = before ?? TOTAL;
      const count = Math.min(limit ?? 0, from);
      const rows = Array.from({ length: count }, (_, at) => reportOf(from - at));
      return { rows, next: from - count > 0 ? from - count : null, total: TOTAL };
    },
  },
}));

function reportOf(id: number) {
  const message = { ...UNKNOWN_CODE, text: id <= OTHER ? "Another cause altogether" : "One cause" };
  return { ...row(id, id, 0), state: "failed" as const, message };
}

const words = (at: ParentNode | null) => (at?.textContent ?? "").replaceAll(/[’'\s]/g, "");

it("says that a cause may have more reports than it shows, and orders the rest when asked to", async () => {
  asked.length = 0;
  const element = await render(
    <QueryClientProvider client={createCache()}>
      <IntakeContext value={{} as IntakeDesk}>
        <Correct open={null} />
      </IntakeContext>
    </QueryClientProvider>,
  );
  const find = (id: string) => element.querySelector<HTMLElement>(`[data-testid="${id}"]`);
  await vi.waitFor(() => expect(find("causes-cut")).not.toBeNull(), 30_000);
  expect(asked).toHaveLength(25);
  expect(words(find("causes-cut"))).toContain("Thenewest5000of7300");
  expect(words(find("causes-more"))).toBe("Order2300more");
  expect(words(element.querySelector("header"))).toContain("7300reportsneedcorrection·atleast1cause");
  expect(words(find("cause"))).toContain("5000+");
  expect(words(find("cause-page"))).toContain("5000+");

  await act(async () => find("causes-more")?.click());
  await vi.waitFor(() => expect(element.querySelectorAll('[data-testid="cause"]')).toHaveLength(2), 30_000);
  await vi.waitFor(() => expect(find("causes-cut")).toBeNull(), 30_000);
  expect(words(element.querySelector("header"))).toContain("7300reportsneedcorrection·2causes");
  const counts = [...element.querySelectorAll('[data-testid="cause"]')].map((cause) =>
    words(cause.querySelector("span[aria-hidden]")),
  );
  expect(counts).toEqual([String(TOTAL - OTHER), String(OTHER)]);
}, 90_000);
