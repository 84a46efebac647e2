// @vitest-environment jsdom
// From what holds reports up to those reports.

import { QueryClientProvider } from "@tanstack/react-query";
import { act } from "react";
import { expect, it, vi } from "vitest";

import type { StatisticsView } from "../src/bridge/generated/StatisticsView";
import { createCache } from "../src/bridge/queries";
import { IntakeContext } from "../src/intake";
import type { IntakeDesk } from "../src/intake";
import type { Place } from "../src/place";
import { Correct } from "../src/screens/correct";
import { Overview } from "../src/screens/overview";
import { render } from "./render";

const shown = (screen: React.ReactNode, go: (place: Place) => void) =>
  render(
    <QueryClientProvider client={createCache()}>
      <IntakeContext value={{} as IntakeDesk}>{screen}</IntakeContext>
    </QueryClientProvider>,
    "en",
    { go },
  );

it("a cause leads to that cause", async () => {
  const go = vi.fn<(place: Place) => void>();
  const overview = await shown(<Overview stating={false} />, go);
  const bar = () => overview.querySelectorAll<HTMLElement>('[data-testid="overview-causes"] button')[0];
  await vi.waitFor(() => expect(bar()).toBeDefined());
  await act(async () => bar()?.click());
  const place = go.mock.calls[0]?.[0];
  if (place?.screen !== "correct") throw new Error("elsewhere");
  const correct = await shown(<Correct open={null} cause={place.cause} />, go);
  const title = () => correct.querySelector('[data-testid="cause-page"] h2')?.textContent;
  await vi.waitFor(() => expect(title()).toBe(bar()?.querySelector("span")?.textContent));
});

it("says how long half of the reports took where there are enough of them", async () => {
  const overview = await shown(<Overview stating={false} />, vi.fn());
  const sentence = () => overview.querySelector('[data-testid="overview-sentence"]')?.textContent;
  await vi.waitFor(() => expect(sentence()).toContain("Half were completed within 42 seconds"));
});

it("says the same time once, what was replaced and not counted, and a deadline that has passed", async () => {
  const { door } = await import("#door");
  const real = door.call;
  const late = new Date(Date.now() - 86_400_000).toISOString();
  vi.spyOn(door, "call").mockImplementation((async (command: "statistics", takes: { days: number }) => {
    const view = await (real as (...of: unknown[]) => Promise<never>)(command, takes);
    if (command === ("list" as string)) {
      const page = view as unknown as { rows: { due: string | null }[] };
      return { ...page, rows: page.rows.map((row) => ({ ...row, due: late })) };
    }
    if (command !== "statistics") return view;
    const { days, ...rest } = view as StatisticsView;
    const replaced = days.map((day, at) => ({ ...day, byState: { ...day.byState, superseded: at === 0 ? 2 : 0 } }));
    return { ...rest, days: replaced, pace: { median: 8, p95: 8, reports: 5 } };
  }) as never);
  const overview = await shown(<Overview stating={false} />, vi.fn());
  const sentence = () => overview.querySelector('[data-testid="overview-sentence"]')?.textContent;
  await vi.waitFor(() => expect(sentence()).toContain("All were completed within 8 seconds."));
  expect(sentence()).toContain("2 that were replaced are not counted.");
  await vi.waitFor(() =>
    expect(overview.querySelector('[data-testid="next-deadline"]')?.textContent).toContain("Deadline passed"),
  );
  vi.restoreAllMocks();
});
