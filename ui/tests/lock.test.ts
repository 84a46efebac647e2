import { expect, it } from "vitest";

import { idleFor } from "../src/lock";

it("counts the longer of both clocks: one stops while the computer sleeps, the other may be set back", () => {
  const last = { wall: 1_000_000, steady: 5_000 };
  expect(idleFor(last, { wall: 1_060_000, steady: 65_000 })).toBe(60_000);
  // Slept for an hour: the steady clock may have stood still.
  expect(idleFor(last, { wall: 4_600_000, steady: 6_000 })).toBe(3_600_000);
  // The clock was set back by a day.
  expect(idleFor(last, { wall: -85_000_000, steady: 605_000 })).toBe(600_000);
});
