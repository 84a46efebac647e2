import { QueryObserver } from "@tanstack/react-query";
import { afterEach, beforeEach, expect, it, vi } from "vitest";

import { createCache, journalFollower } from "../src/bridge/queries";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it("a steady stream of changes neither starves a fetch nor hides the last change", async () => {
  const cache = createCache();
  let begun = 0;
  let ended = 0;
  const observer = new QueryObserver(cache, {
    queryKey: ["status"],
    queryFn: async () => {
      begun += 1;
      const mine = begun;
      await new Promise((done) => setTimeout(done, 1000));
      ended += 1;
      return mine;
    },
  });
  const end = observer.subscribe(() => undefined);
  await vi.advanceTimersByTimeAsync(1000);
  const follow = journalFollower(cache);
  for (let at = 0; at < 100; at += 1) {
    follow();
    await vi.advanceTimersByTimeAsync(50);
  }
  expect(ended).toBeGreaterThan(3);
  const before = begun;
  await vi.advanceTimersByTimeAsync(5000);
  expect(begun).toBeLessThanOrEqual(before + 2);
  expect(ended).toBe(begun);
  expect(observer.getCurrentResult().data).toBe(begun);
  end();
});
