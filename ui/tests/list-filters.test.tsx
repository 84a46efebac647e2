// @vitest-environment jsdom
// What the filters of the list say of a list that is longer than what is counted.

import { act } from "react";
import { beforeAll, expect, it, vi } from "vitest";

import type { ListCountsView } from "../src/bridge/generated/ListCountsView";
import { DeadlineFilter, DiseaseFilter, LaboratoryFilter, StateFilter } from "../src/parts/list-filters";
import { render } from "./render";

// What the library needs of a browser.
beforeAll(() => vi.stubGlobal("CSS", { escape: (text: string) => text.replaceAll(/\W/g, "\\$&") }));

const counted = (isCut: boolean): ListCountsView => ({
  groups: { completed: 12_000 },
  states: { completed: 9000 },
  laboratories: [{ name: "Labor Aaretal", count: 9000 }],
  diseases: [{ disease: "measles", subject: null, count: 9000 }],
  timeliness: { overdue: 9000, running: 9000, late: 9000, kept: 9000 },
  atLeast: false,
  choicesCounted: isCut ? 10_000 : null,
});

const FILTERS: [string, (counts: ListCountsView) => React.ReactNode][] = [
  ["filter-state", (counts) => <StateFilter states={[]} counts={counts} onChange={vi.fn()} />],
  ["filter-laboratory", (counts) => <LaboratoryFilter laboratory={null} counts={counts} onChange={vi.fn()} />],
  ["filter-disease", (counts) => <DiseaseFilter about={null} counts={counts} onChange={vi.fn()} />],
  ["filter-deadline", (counts) => <DeadlineFilter timeliness={null} counts={counts} onChange={vi.fn()} />],
];

it.each(FILTERS)("%s says at each choice that there may be more", async (id, filter) => {
  for (const isCut of [false, true]) {
    const element = await render(filter(counted(isCut)));
    await act(async () => element.querySelector<HTMLElement>(`[data-testid="${id}"]`)?.click());
    const choices = [...document.querySelectorAll('[role^="menuitem"]')].map((one) => one.textContent);
    expect(choices).not.toHaveLength(0);
    for (const choice of choices) expect(choice).toMatch(isCut ? /9\D000\+$/ : /9\D000$/);
    const note = document.querySelector('[data-testid="filter-at-least"]');
    if (isCut) expect(note?.textContent).toMatch(/^Only the newest 10\D000 reports were counted/);
    else expect(note).toBeNull();
    await act(async () =>
      document.activeElement?.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape", bubbles: true })),
    );
  }
});
