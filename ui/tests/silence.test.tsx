// @vitest-environment jsdom
// Where no report comes for a day though some come every day, the overview asks whether the folder is connected, also on a
// screen that nobody has touched since; and nowhere else does it ask.

import { QueryClientProvider } from "@tanstack/react-query";
import type { QueryClient } from "@tanstack/react-query";
import { act } from "react";
import { afterEach, beforeEach, expect, it, vi } from "vitest";

import type { Caller } from "../src/bridge/door";
import type { StatisticsView } from "../src/bridge/generated/StatisticsView";
import { createCache } from "../src/bridge/queries";
import { Overview } from "../src/screens/overview";
import { render } from "./render";

const HOUR = 3_600_000;
const MONDAY = Date.parse("2026-03-02T09:00:00Z");
/** How often the screen looks at the clock at the least. */
const LOOK = 60_000;

const given = vi.hoisted(() => ({ perDay: [] as number[], lastReceived: null as string | null }));

const asked = vi.hoisted(() => [] as number[]);

vi.mock("#door", async (original) => {
  const { door } = await original<{ door: Caller }>();
  const date = (ago: number) => new Date(MONDAY - ago * 24 * HOUR).toISOString().slice(0, 10);
  const day = (count: number, at: number, { length }: number[]) => ({
    date: date(length - 1 - at),
    byState: { completed: count },
  });
  const nothing = { before: {}, pace: null, deadlines: null, diseases: [], causes: [], oldestOpen: null };
  const statistics = ({ days }: { days: number }): StatisticsView => (
    asked.push(days),
    {
      ...nothing,
      days: given.perDay.slice(-days).map(day),
      lastReceived: given.lastReceived,
    }
  );
  const call = (command: string, takes: never) =>
    command === "statistics"
      ? Promise.resolve(statistics(takes))
      : door.call(...([command, takes] as unknown as [never]));
  return { door: { ...door, call } };
});

let cache: QueryClient;
beforeEach(() => {
  cache = createCache();
  vi.useFakeTimers({ now: MONDAY });
});
afterEach(() => void vi.useRealTimers());

/** The overview of a laboratory that took in so many a day, the last of them now. */
async function overview(perDay: number[], lastReceived: number | null = MONDAY): Promise<HTMLElement> {
  given.perDay = perDay;
  given.lastReceived = lastReceived === null ? null : new Date(lastReceived).toISOString();
  const element = await render(
    <QueryClientProvider client={cache}>
      <Overview stating={false} />
    </QueryClientProvider>,
  );
  await act(async () => vi.advanceTimersByTimeAsync(LOOK));
  expect(element.querySelector('[data-testid="overview-sentence"]')).not.toBeNull();
  return element;
}

/** So long after the last report, on the same screen. */
async function after(hours: number): Promise<void> {
  vi.setSystemTime(MONDAY + hours * HOUR - LOOK);
  await act(async () => vi.advanceTimersByTimeAsync(LOOK));
}

const FOURTEEN_A_DAY = [14, 13, 15, 14, 14, 14, 9];

it("after 26 hours without a report the open overview asks, and with the next report it stops", async () => {
  const screen = await overview(FOURTEEN_A_DAY);
  expect(screen.textContent).not.toContain("Is the watched folder connected?");
  await after(23.9);
  expect(screen.textContent).not.toContain("Is the watched folder connected?");
  await after(24);
  expect(screen.textContent).toContain("No report for 24 hours; usually 14 a day. Is the watched folder connected?");
  await after(26.2);
  expect(screen.textContent).toContain("No report for 26 hours; usually 14 a day. Is the watched folder connected?");
  given.lastReceived = new Date(MONDAY + 26 * HOUR).toISOString();
  await act(async () => {
    await cache.invalidateQueries({ queryKey: ["statistics"] });
    await vi.advanceTimersByTimeAsync(LOOK);
  });
  expect(screen.textContent).not.toContain("Is the watched folder connected?");
});

it.each([
  ["a laboratory that reports once a week", [0, 0, 1, 0, 0, 0, 0], MONDAY],
  ["a laboratory whose first reports came today", [0, 0, 0, 0, 0, 0, 14], MONDAY],
  ["a laboratory that never had a report", [0, 0, 0, 0, 0, 0, 0], null],
])("%s is not asked", async (_, perDay, lastReceived) => {
  const screen = await overview(perDay, lastReceived);
  await after(48);
  expect(screen.textContent).not.toContain("Is the watched folder connected?");
});

it("whichever days are shown, it is asked", async () => {
  const screen = await overview(FOURTEEN_A_DAY);
  const [today] = screen.querySelectorAll<HTMLElement>("[aria-pressed]");
  await act(async () => {
    today?.click();
    await vi.advanceTimersByTimeAsync(LOOK);
  });
  await after(48);
  expect(screen.textContent).toContain("No report for 48 hours; usually 14 a day.");
});

/** From Monday to Friday, three weeks, and a Monday on which nothing came yet. */
const NOT_AT_WEEKENDS = [...[0, 1, 2].flatMap(() => [14, 13, 15, 14, 14, 0, 0]), 0];
const FRIDAY = Date.parse("2026-02-27T17:00:00Z");

it("a laboratory that rests at weekends is asked on Monday evening, and not in the morning", async () => {
  const screen = await overview(NOT_AT_WEEKENDS, FRIDAY);
  expect(screen.textContent).not.toContain("Is the watched folder connected?");
  await after(7.9);
  expect(screen.textContent).not.toContain("Is the watched folder connected?");
  await after(9);
  expect(screen.textContent).toContain("No report for 73 hours; usually 14 a day. Is the watched folder connected?");
});

it("a weekend alone is no day of rest: the folder may have gone away on Friday", async () => {
  const screen = await overview([14, 13, 15, 14, 14, 0, 0], FRIDAY - 24 * HOUR);
  expect(screen.textContent).toContain("Is the watched folder connected?");
});

it("with the next day the open overview asks for its numbers", async () => {
  await overview(FOURTEEN_A_DAY);
  asked.length = 0;
  await after(8);
  expect(asked).toEqual([]);
  await after(24);
  expect(asked).toContain(7);
});
