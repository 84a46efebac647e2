// @vitest-environment jsdom
// Reports that are asked for from elsewhere while the list stands open.

import { QueryClientProvider } from "@tanstack/react-query";
import { act, useState } from "react";
import { expect, it, vi } from "vitest";

import type { ListQuery } from "../src/bridge/generated/ListQuery";
import { createCache } from "../src/bridge/queries";
import { IntakeContext } from "../src/intake";
import type { IntakeDesk } from "../src/intake";
import type { Only } from "../src/place";
import { Reports } from "../src/screens/reports";
import { render } from "./render";

const { asked } = vi.hoisted(() => ({ asked: [] as ListQuery[] }));

vi.mock("#door", () => ({
  door: {
    call: async (command: string, takes?: { query: ListQuery }) => {
      if (command === "status") return { counts: {}, notices: [] };
      if (command === "deadlines") return { deadlines: [] };
      if (command === "list_counts")
        return {
          groups: {},
          states: {},
          laboratories: [],
          diseases: [],
          timeliness: {},
          atLeast: false,
          choicesCounted: null,
        };
      if (command !== "list" || !takes) return [];
      asked.push(takes.query);
      return { rows: [], next: null, total: 0 };
    },
  },
}));

const searching = (search: string): Only => ({ since: null, until: null, states: [], search });

let ask: (only: Only | undefined) => void;
function Host() {
  const [only, setOnly] = useState<Only>();
  ask = setOnly;
  return <Reports group={null} open={null} only={only} />;
}

it("takes a search that is asked for anew, and keeps what is typed until then", async () => {
  const element = await render(
    <QueryClientProvider client={createCache()}>
      <IntakeContext value={{} as IntakeDesk}>
        <Host />
      </IntakeContext>
    </QueryClientProvider>,
  );
  const field = () => element.querySelector<HTMLInputElement>('input[type="search"]');
  expect(field()?.value).toBe("");
  await act(async () => ask(searching("influenza")));
  expect(field()?.value).toBe("influenza");
  await vi.waitFor(() => expect(asked.at(-1)?.search).toBe("influenza"));
  await act(async () => ask(searching("measles")));
  expect(field()?.value).toBe("measles");
  await act(async () => ask(undefined));
  expect(field()?.value).toBe("measles");
});
