// @vitest-environment jsdom
// Reports that are asked for from elsewhere while the list stands open.

import { QueryClientProvider } from "@tanstack/react-query";
import { act, useState } from "react";
import { expect, it, vi } from "vitest";

import { row } from "../src/bridge/mock/reports";
import type { ListQuery } from "../src/bridge/generated/ListQuery";
import { createCache } from "../src/bridge/queries";
import { IntakeContext } from "../src/intake";
import type { IntakeDesk } from "../src/intake";
import { Toasts } from "../src/kit/toasts";
import type { Only, Place } from "../src/place";
import { Reports } from "../src/screens/reports";
import { render } from "./render";

const { asked } = vi.hoisted(() => ({ asked: [] as ListQuery[] }));
const { core } = vi.hoisted(() => ({ core: { actions: [] as string[], looked: 0 } }));

vi.mock("../src/screens/detail", () => ({ Detail: ({ id }: { id: number }) => <p data-testid="shown">{id}</p> }));
vi.mock("../src/parts/correct-dialog", () => ({
  CorrectDialog: ({ id }: { id: number }) => <p data-testid="form">{id}</p>,
}));
vi.mock("#door", () => {
  const door = {
    here: () => door,
    call: async (command: string, takes?: { query: ListQuery }) => {
      if (command === "status") return { counts: {}, notices: [] };
      if (command === "detail") core.looked += 1;
      if (command === "detail") return { row: { ...row(1, 1, 0), actions: core.actions } };
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
  };
  return { door };
});

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

it.each([
  ["has its form opened at once where it can be corrected", ["correct"], "1"],
  ["is shown, and nothing is refused aloud, where it cannot", ["resubmit"], undefined],
])("a report that is asked for to be corrected %s", async (_, actions, form) => {
  core.actions = actions;
  core.looked = 0;
  const went: Place[] = [];
  const element = await render(
    <QueryClientProvider client={createCache()}>
      <IntakeContext value={{} as IntakeDesk}>
        <Reports group={null} open={1} corrects />
        <Toasts />
      </IntakeContext>
    </QueryClientProvider>,
    "en",
    { go: (place) => went.push(place) },
  );
  await vi.waitFor(() => expect(core.looked).toBe(1));
  await act(async () => undefined);
  expect(element.querySelector('[data-testid="form"]')?.textContent).toBe(form);
  expect(element.querySelector('[data-testid="shown"]')?.textContent).toBe("1");
  expect(document.querySelector('[role="alertdialog"]')).toBeNull();
  expect(went).toEqual([{ screen: "reports", group: null, open: 1, sent: undefined, only: undefined }]);
});
