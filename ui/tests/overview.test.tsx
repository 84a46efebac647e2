// @vitest-environment jsdom
// From what holds reports up to those reports.

import { QueryClientProvider } from "@tanstack/react-query";
import { act } from "react";
import { expect, it, vi } from "vitest";

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
