import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { describe, expect, it } from "vitest";

import { problemOf } from "../src/bridge/door";
import type { PageView } from "../src/bridge/generated/PageView";
import { createMock } from "../src/bridge/mock";
import { UNKNOWN_CODE, candidate, row } from "../src/bridge/mock-data";
import { causesOf, masked, offered } from "../src/causes";
import { languageFor } from "../src/i18n/text";
import { intakeReducer, tally } from "../src/intake";
import type { Intake } from "../src/intake";

const EMPTY: Intake = { sources: [], batch: null };

describe("the house", () => {
  const src = fileURLToPath(new URL("../src", import.meta.url));
  const files = readdirSync(src, { recursive: true, encoding: "utf8" }).filter((file) => /\.tsx?$/.test(file));
  const read = (file: string) => readFileSync(join(src, file), "utf8");

  it("has one door to Tauri", () => {
    expect(files.filter((file) => read(file).includes("@tauri-apps"))).toEqual([join("bridge", "tauri.ts")]);
  });

  it("has no HTML from strings and no style elements", () => {
    for (const file of files) expect(read(file), file).not.toMatch(/dangerouslySetInnerHTML|innerHTML|<style/);
  });
});

describe("the door", () => {
  it("has the commands that the shell has, and no other", () => {
    const found = (file: string, pattern: RegExp) =>
      [...readFileSync(new URL(file, import.meta.url), "utf8").matchAll(pattern)].map(([, name]) => name).toSorted();
    const ours = found("../src/bridge/door.ts", /^ {2}(\w+): \{ takes: /gm);
    expect(ours.length).toBeGreaterThan(20);
    expect(ours).toEqual(found("../../src-tauri/src/granted.rs", /^ {4}"(\w+)",$/gm));
  });
});

describe("causes", () => {
  it("offer for each report what its state permits", () => {
    const states = ["held", "rejected", "failed", "unknown"];
    const rows = states.map((state, at) => ({ ...row(at, at, 0), state, message: null }));
    const of = (state: string) => causesOf(rows.filter((known) => known.state === state)).map(offered);
    expect(of("held")).toEqual([{ again: [], never: [0] }]);
    expect(of("rejected")).toEqual([{ again: [1], never: [1] }]);
    expect(of("failed")).toEqual([{ again: [2], never: [2] }]);
    expect(of("unknown")).toEqual([{ again: [], never: [] }]);
  });

  it("mask values", () => {
    expect(masked('Code 99999-9 ("http://loinc.org") is not in set 12')).toBe(masked('Code 1-2 ("x") is not in set 4'));
  });

  it("group reports by rule, masked words and path without indices", () => {
    const one = { ...row(1, 1, 0), message: UNKNOWN_CODE };
    const text = UNKNOWN_CODE.text?.replace("99999-9", "11111-1") ?? null;
    const other = { ...row(2, 1, 0), message: { ...UNKNOWN_CODE, text, expression: "Bundle.entry[7].resource.code.coding[2]" } };
    const third = { ...row(3, 1, 0), message: { ...UNKNOWN_CODE, rule: "FOPH-009" } };
    expect(causesOf([one, other, third]).map((cause) => cause.rows.length)).toEqual([2, 1]);
  });
});

describe("intake", () => {
  const chosen = intakeReducer(EMPTY, { do: "choose", paths: ["a", "b", "a"].slice(0, 2), look: 1 });

  it("takes each path once", () => {
    expect(intakeReducer(chosen, { do: "choose", paths: ["b", "c"], look: 1 }).sources.map((source) => source.path)).toEqual(["a", "b", "c"]);
  });

  it("counts what will be sent, what needs correction, and what not", () => {
    const found = ["x.json", "birth-error.json", "scan.pdf", "known.json"].map(candidate);
    const state = intakeReducer(chosen, { do: "found", path: "a", look: 1, found });
    expect(tally(state.sources)).toEqual({ send: 2, correction: 1, known: 1, refused: 1, looking: 1 });
  });

  it("keeps apart what became a submission and what did not", () => {
    const files = ["x.json", "scan.pdf"].map(candidate);
    const state = intakeReducer(chosen, { do: "sent", views: [{ files, submissions: [7, null] }], at: 1000 });
    expect(state.sources).toEqual([]);
    expect(state.batch?.ids).toEqual([7]);
    expect(state.batch?.rest.map((view) => view.file)).toEqual(["scan.pdf"]);
    expect(state.batch?.sentAt).toBe(1000);
  });
});

describe("languages", () => {
  it("follow the choice, then the system, then English", () => {
    expect(languageFor("de", ["en-US"])).toBe("de");
    expect(languageFor(null, ["ja", "fr-CH", "de-CH"])).toBe("fr");
    expect(languageFor(null, ["it-CH", "de-CH"])).toBe("it");
    expect(languageFor(null, ["ja"])).toBe("en");
  });
});

describe("the made-up core", () => {
  it("gives pages by keyset that never overlap", async () => {
    const core = createMock({ rows: 25 });
    const query = { group: null, states: [], search: null, since: null, until: null, before: null, limit: 10, ids: null };
    const seen: number[] = [];
    let before: number | null = null;
    do {
      const page: PageView = await core.call("list", { query: { ...query, before }, reveal: false });
      seen.push(...page.rows.map((one) => one.id));
      before = page.next;
    } while (before !== null);
    expect(seen).toEqual(Array.from({ length: 25 }, (_, at) => 25 - at));
  });

  it("rejects with problems, and other faults become one", async () => {
    await expect(createMock().call("detail", { id: 9999 })).rejects.toMatchObject({ code: "no-such-submission" });
    expect(problemOf(new TypeError("x")).code).toBe("window-fault");
  });
});
