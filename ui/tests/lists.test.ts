// What is chosen, how a list is sorted, what a kept view is, and what a table for other programs names.

import { describe, expect, it } from "vitest";

import { door } from "#door";

import { createMock } from "../src/bridge/mock/core";
import { ALL } from "../src/bridge/queries";
import { loadWords } from "../src/i18n/text";
import { tableOf } from "../src/parts/reports-table";
import { between } from "../src/selection";
import { EVERYTHING, filterOf, isNarrowed, isSame, sortedBy } from "../src/view";
import type { View } from "../src/view";

describe("a choice", () => {
  const rows = [5, 4, 3, 2, 1].map((id) => ({ id }));

  it("reaches from the last one to this one, whichever stands above", () => {
    expect(between(rows, 4, 2)).toEqual([4, 3, 2]);
    expect(between(rows, 2, 4)).toEqual([4, 3, 2]);
  });

  it("is this one alone where the first is not in the list any more", () => {
    expect(between(rows, 9, 2)).toEqual([2]);
    expect(between(rows, null, 2)).toEqual([2]);
  });
});

describe("a view", () => {
  it("is sorted by a column in its natural order, then the other way, then not", () => {
    const first = { ...EVERYTHING, ...sortedBy(EVERYTHING, "patient") };
    expect(first).toMatchObject({ sort: "patient", ascending: true });
    const second = { ...first, ...sortedBy(first, "patient") };
    expect(second).toMatchObject({ sort: "patient", ascending: false });
    expect(sortedBy(second, "patient")).toEqual({ sort: null, ascending: false });
    // The last change: the newest first, to begin with.
    expect(sortedBy(EVERYTHING, "updated")).toEqual({ sort: "updated", ascending: false });
  });

  it("asks the core for what it says, and a figure of the overview for its own states and days", () => {
    const view: View = { ...EVERYTHING, states: ["held"], search: "x", laboratory: "A", sort: "disease" };
    expect(filterOf(view, "fr", {})).toMatchObject({
      states: ["held"],
      search: "x",
      laboratory: "A",
      language: "fr",
      ids: null,
    });
    const only = { since: "2026-11-01T00:00:00Z", until: null, states: ["failed" as const] };
    expect(filterOf(view, "fr", { only })).toMatchObject({ states: ["failed"], since: only.since });
    expect(filterOf(EVERYTHING, "fr", {})).toEqual({ ...ALL, ascending: false });
  });

  it("is told by its filters, not by its name or the order of its states", () => {
    const view: View = { ...EVERYTHING, states: ["held", "failed"], search: "a " };
    expect(isSame({ ...EVERYTHING, name: "mine", states: ["failed", "held"], search: "a" }, view)).toBe(true);
    expect(isSame({ ...EVERYTHING, name: "mine" }, view)).toBe(false);
    expect(isNarrowed(EVERYTHING)).toBe(false);
    expect(isNarrowed({ ...EVERYTHING, sort: "patient", group: "closed" })).toBe(false);
    const filters: Partial<View>[] = [{ search: "a" }, { period: "week" }, { states: ["held"] }, { laboratory: "A" }];
    for (const filter of filters) {
      expect(isNarrowed({ ...EVERYTHING, ...filter })).toBe(true);
    }
  });
});

describe("a table of reports", () => {
  it("has a line for each, and names neither patient nor file", async () => {
    const page = await door.call("list", { query: { ...ALL, before: null, limit: 20 }, reveal: true });
    const table = await tableOf(
      page.rows.map((row) => row.id),
      await loadWords("en"),
    );
    expect(table.trimEnd().split("\r\n")).toHaveLength(21);
    expect(table.split("\r\n")[0]).toContain("Number,Taken in,Last change,Status,Disease");
    for (const { patient, file } of page.rows) {
      if (patient) expect(table).not.toContain(patient.split(",")[0]);
      expect(table).not.toContain(file);
    }
  });
});

describe("one decision for many", () => {
  it("is told for each report, done or not", async () => {
    const core = createMock({ rows: 30, step: 1 });
    const ids = await core.call("matching", { query: { ...ALL, before: null, limit: null } });
    const { actions } = await core.call("chosen", { ids });
    const { done, refused } = await core.call("decide", { ids, decision: "withdraw", reason: "twice" });
    expect(done).toHaveLength(actions.withdraw ?? 0);
    expect(done.length + refused.flatMap((one) => one.ids).length).toBe(ids.length);
  });
});
