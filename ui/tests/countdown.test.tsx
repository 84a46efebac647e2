// @vitest-environment jsdom
// The seconds until what was sent leaves: told in two places, they are the same.

import { act } from "react";
import { expect, it, vi } from "vitest";

import { useSecondsLeft } from "../src/parts/countdown";
import { render } from "./render";

function Count({ until, onEnd }: { until: string; onEnd: () => void }) {
  return <b>{useSecondsLeft(until, onEnd)}</b>;
}

it("is the same wherever it is told, whenever each place was opened", async () => {
  vi.useFakeTimers({ now: 1_000_000 });
  const ended = vi.fn();
  const until = new Date(1_010_000).toISOString();
  const element = await render(<Count until={until} onEnd={ended} />);
  // The second place is opened just before the next look at the clock.
  await act(async () => vi.advanceTimersByTime(150));
  const other = await render(<Count until={until} onEnd={ended} />);
  for (let at = 0; at < 60; at += 1) {
    await act(async () => vi.advanceTimersByTime(170));
    expect(other.textContent).toBe(element.textContent);
  }
  expect(element.textContent).toBe("0");
  expect(ended).toHaveBeenCalledTimes(2);
  vi.useRealTimers();
});
