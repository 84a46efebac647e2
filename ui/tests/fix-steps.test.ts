// What is said of many reports is made of what is said of each part, and no part is left out.

import { expect, it } from "vitest";

import type { Caller } from "../src/bridge/door";
import type { CauseFieldView } from "../src/bridge/generated/CauseFieldView";
import { fieldsOf, joinedFields } from "../src/parts/fix-steps";

const field = (path: string, ...values: [string, number][]): CauseFieldView => ({
  path,
  values: values.map(([value, count]) => ({ value, count })),
});

it("values of one element are counted together, the most frequent first", () => {
  const all = joinedFields([field("a", ["x", 3], ["y", 1])], [field("b", ["z", 1]), field("a", ["y", 5])]);
  expect(all).toEqual([field("a", ["y", 6], ["x", 3]), field("b", ["z", 1])]);
});

it("of 2,345 reports each is asked about once, in parts that the core takes, and it ends where nobody listens", async () => {
  const asked: number[] = [];
  const here = {
    async call(_: string, { ids }: { ids: number[] }) {
      expect(ids.length).toBeLessThanOrEqual(1_000);
      asked.push(...ids);
      return [field("a", ["x", ids.length])];
    },
  } as unknown as Caller;
  const all = Array.from({ length: 2_345 }, (_, at) => at);
  const told: CauseFieldView[][] = [];
  await fieldsOf(here, all, (fields) => told.push(fields) > 0);
  expect(asked).toEqual(all);
  expect(told.at(-1)).toEqual([field("a", ["x", 2_345])]);
  expect(told.length).toBeGreaterThan(2);
  asked.length = 0;
  await fieldsOf(here, all, () => false);
  expect(asked.length).toBeLessThan(2_345);
});
