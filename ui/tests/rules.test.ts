import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { describe, expect, it } from "vitest";

import { problemOf } from "../src/bridge/door";
import type { CandidateView } from "../src/bridge/generated/CandidateView";
import type { IntakeView } from "../src/bridge/generated/IntakeView";
import type { PageView } from "../src/bridge/generated/PageView";
import type { Problem } from "../src/bridge/generated/Problem";
import type { State } from "../src/bridge/generated/State";
import { createMock } from "../src/bridge/mock/core";
import { UNKNOWN_CODE } from "../src/bridge/mock/messages";
import { actionsOf, candidate, row } from "../src/bridge/mock/reports";
import { ALL } from "../src/bridge/queries";
import { causesOf, masked, offered } from "../src/causes";
import { languageFor } from "../src/i18n/text";
import { intakeReducer, isToGo, leftOf, questions, repeated, rivals, tally, twins } from "../src/intake";
import type { Intake } from "../src/intake";

const EMPTY: Intake = { sources: [], batch: null, taking: null };
const NONE: IntakeView = { files: [], submissions: [], failed: [], problem: null };

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

describe("causes", () => {
  it("offer for each report what its state permits", () => {
    const states = ["held", "rejected", "failed", "unknown"] as const;
    const rows = states.map((state, at) => ({ ...row(at, at, 0), state, actions: actionsOf(state), message: null }));
    const of = (state: string) => causesOf(rows.filter((known) => known.state === state)).map(offered);
    expect(of("held")).toEqual([{ again: [], back: [], release: [0], never: [0] }]);
    expect(of("rejected")).toEqual([{ again: [1], back: [], release: [], never: [1] }]);
    expect(of("failed")).toEqual([{ again: [2], back: [], release: [], never: [2] }]);
    expect(of("unknown")).toEqual([{ again: [], back: [], release: [], never: [] }]);
  });

  it("mask values", () => {
    expect(masked('Code 99999-9 ("http://loinc.org") is not in set 12')).toBe(masked('Code 1-2 ("x") is not in set 4'));
  });

  it("group reports by rule, masked words and path without indices", () => {
    const one = { ...row(1, 1, 0), message: UNKNOWN_CODE };
    const text = UNKNOWN_CODE.text?.replace("99999-9", "11111-1") ?? null;
    const other = {
      ...row(2, 1, 0),
      message: { ...UNKNOWN_CODE, text, expression: "Bundle.entry[7].resource.code.coding[2]" },
    };
    const third = { ...row(3, 1, 0), message: { ...UNKNOWN_CODE, rule: "FOPH-009" } };
    expect(causesOf([one, other, third]).map((cause) => cause.rows.length)).toEqual([2, 1]);
  });

  it("tell a correction that was taken back from what is on hold, and not a repetition from what it repeats", () => {
    const held = { ...row(1, 1, 0), state: "held" as const, message: null };
    const correction = { ...held, id: 2, takenBack: "correction" as const };
    expect(causesOf([held, correction])).toHaveLength(2);
    const failed = { ...row(3, 1, 0), state: "failed" as const, message: UNKNOWN_CODE };
    const repetition = { ...held, id: 4, takenBack: "repetition" as const, message: UNKNOWN_CODE };
    expect(causesOf([failed, repetition])).toHaveLength(1);
  });
});

describe("intake", () => {
  const chosen = intakeReducer(EMPTY, { do: "choose", paths: ["a", "b", "a"].slice(0, 2), look: 1 });

  it("takes each path once", () => {
    expect(
      intakeReducer(chosen, { do: "choose", paths: ["b", "c"], look: 1 }).sources.map((source) => source.path),
    ).toEqual(["a", "b", "c"]);
  });

  it("counts what will be sent, what needs correction, and what not", () => {
    const found = ["x.json", "birth-error.json", "scan.pdf", "known.json"].map(candidate);
    const state = intakeReducer(chosen, { do: "found", path: "a", look: 1, found });
    expect(tally(state.sources)).toEqual({
      send: 1,
      correction: 1,
      twice: 0,
      known: 1,
      refused: 1,
      unreadable: 0,
      looking: 1,
      asked: 0,
    });
  });

  it("says what could not be read apart from what is no report", () => {
    const refused = candidate("scan.pdf", 0);
    const unread = { ...candidate("scan.pdf", 1), kind: "unknown" as const };
    const sources = [[refused], [unread]].map((found, at) => ({ path: `${at}`, found, look: 1, chosen: 1 }));
    const gone = {
      path: "gone",
      found: [],
      look: 1,
      chosen: 1,
      problem: { code: "io", params: {}, blame: "us", remedy: "call-it", trace: "" } as const,
    };
    expect(tally([...sources, gone])).toMatchObject({ refused: 1, unreadable: 2 });
  });

  it("counts what is on the list twice once, be it as JSON or as XML", () => {
    const twin = { ...candidate("copy.xml", 1), content: candidate("x.json", 0).content };
    const sources = [[candidate("x.json", 0)], [twin, candidate("y.json", 2)]].map((found, at) => ({
      path: `${at}`,
      found,
      look: 1,
      chosen: 1,
    }));
    expect(tally(sources)).toMatchObject({ send: 2, twice: 1 });
    expect([...twins(sources)]).toEqual([twin]);
  });

  it("asks which of two reports with one identifier counts, and sends what a person has chosen", () => {
    const one = candidate("x.json", 0);
    const other = { ...candidate("y.json", 1), documentIdentifier: one.documentIdentifier };
    const sources = [one, other, candidate("z.json", 2)].map((view, at) => ({
      path: `${at}`,
      found: [view],
      look: 1,
      chosen: 1,
    }));
    expect([...rivals(sources)]).toEqual([
      [one, other],
      [other, one],
    ]);
    expect(tally(sources)).toMatchObject({ send: 1, asked: 2 });
    const asked = questions(sources);
    expect(sources.map((source) => isToGo(source, new Set(), new Set(), asked))).toEqual([false, false, true]);
    const chosen = new Set([other.digest]);
    expect(tally(sources, chosen)).toMatchObject({ send: 2, asked: 1 });
    expect(sources.map((source) => isToGo(source, new Set(), chosen, asked))).toEqual([false, true, true]);
  });

  it("holds back the copies of what waits for a decision, in other files and in the same archive", () => {
    const one = candidate("x.json", 0);
    const copy = { ...candidate("x.xml", 3), content: one.content, documentIdentifier: one.documentIdentifier };
    const other = { ...candidate("y.json", 1), documentIdentifier: one.documentIdentifier };
    const apart = [one, other, copy].map((view, at) => ({ path: `${at}`, found: [view], look: 1, chosen: 1 }));
    const chosen = new Set([other.digest]);
    const asked = questions(apart);
    expect(apart.map((source) => isToGo(source, new Set(), chosen, asked))).toEqual([false, true, false]);
    const together = [{ path: "week.zip", found: [one, copy, other], look: 1, chosen: 1 }];
    expect(questions(together)).toEqual(new Set([one, copy, other]));
    expect(tally(together, chosen)).toMatchObject({ send: 1, asked: 1 });
  });

  it("counts each report of a folder that is sent again, and nothing that waits for a person or is on its way", () => {
    const known = (file: string, knownState: State): CandidateView => ({
      ...candidate(file, 0),
      verdict: "known",
      digest: file,
      knownState,
    });
    const found = [
      ...["a", "b", "c"].map((file) => known(file, "completed")),
      known("h", "held"),
      known("q", "queued"),
      known("a", "completed"),
    ];
    const week = { path: "week.zip", found, look: 1, chosen: 1 };
    expect(repeated([week]).map((view) => view.file)).toEqual(["a", "b", "c"]);
    expect(isToGo(week, new Set())).toBe(false);
    expect(isToGo(week, new Set(["week.zip"]))).toBe(true);
  });

  it("looks again at what is named again: more may lie there by now", () => {
    const known: CandidateView = { ...candidate("old.json", 0), verdict: "known" };
    const before = intakeReducer(chosen, { do: "found", path: "a", look: 1, found: [known] });
    const named = intakeReducer(before, { do: "choose", paths: ["a"], look: 2 });
    expect(named.sources[0]).toEqual({ path: "a", found: undefined, look: 2, chosen: 2 });
    const after = intakeReducer(named, { do: "found", path: "a", look: 2, found: [known, candidate("new.json", 0)] });
    expect(tally(after.sources.slice(0, 1))).toMatchObject({ send: 1, known: 1 });
  });

  it("looks at everything again once it is judged for another authority", () => {
    const found = intakeReducer(chosen, { do: "found", path: "a", look: 1, found: [candidate("known.json", 0)] });
    const anew = intakeReducer(found, { do: "anew", look: 2 });
    expect(anew.sources).toEqual(["a", "b"].map((path) => ({ path, found: undefined, look: 2, chosen: 1 })));
    // What comes late of the look before says nothing.
    expect(intakeReducer(anew, { do: "found", path: "a", look: 1, found: [] }).sources).toEqual(anew.sources);
  });

  it("keeps what was chosen while others were handed over, also what is on the list once more", () => {
    const chosen = intakeReducer(EMPTY, { do: "choose", paths: ["monday.zip", "out"], look: 1 });
    const handed = { files: [candidate("x.json", 0)], submissions: [7], failed: [], problem: null };
    const { left } = leftOf(chosen.sources, new Set(), { items: [handed, handed], gone: NONE });
    const meanwhile = intakeReducer(chosen, { do: "choose", paths: ["tuesday.zip", "out"], look: 2 });
    const after = intakeReducer(meanwhile, { do: "sent", views: [handed], at: 1000, left, look: 3 });
    expect(after.sources.map(({ path, look }) => [path, look])).toEqual([
      ["out", 2],
      ["tuesday.zip", 2],
    ]);
    expect(after.batch?.ids).toEqual([7]);
  });

  it("keeps apart what became a submission and what did not", () => {
    const files = ["x.json", "scan.pdf"].map(candidate);
    const views = [{ files, submissions: [7, null], failed: [], problem: null }];
    const state = intakeReducer(chosen, {
      do: "sent",
      views,
      at: 1000,
      left: { gone: chosen.sources, anew: [] },
      look: 2,
    });
    expect(state.sources).toEqual([]);
    expect(state.batch?.ids).toEqual([7]);
    expect(state.batch?.rest.map((view) => view.file)).toEqual(["scan.pdf"]);
    expect(state.batch?.sentAt).toBe(1000);
  });

  it("still tells what became no submission once what was taken back is sent after all", () => {
    const rest = [candidate("scan.pdf", 0)];
    const batch = { ids: [7], rest, sentAt: 1, held: { count: 1, ids: [7] } };
    const after = intakeReducer({ sources: [], batch, taking: null }, { do: "followed", ids: [7], at: 2 });
    expect(after.batch).toEqual({ ids: [7], rest, sentAt: 2, held: null });
  });
});

describe("a hand-over of which a part fails", () => {
  const FULL: Problem = { code: "disk-full", params: {}, blame: "you", remedy: "free-space", trace: "" };
  const at = (path: string) => ({ path, found: [candidate(path, 0)], look: 1, chosen: 1 });
  const sources = ["b1", "b2", "b3"].map((name) => at(`${name}.json`));
  const [first, second, third] = sources;
  const all = new Set(sources.map((source) => source.path));
  const of = (source: (typeof sources)[number] | undefined, submission: number | null): IntakeView => ({
    files: source?.found ?? [],
    submissions: [submission],
    failed: submission === null ? [0] : [],
    problem: submission === null ? FULL : null,
  });

  it("leaves what failed on the list, and sends nothing again that was taken in", () => {
    const items = [of(first, 7), of(second, null), of(third, null)];
    const rest = leftOf(sources, all, { items, gone: NONE });
    expect(rest.left).toEqual({ gone: sources, anew: [second, third] });
    expect([...rest.again]).toEqual(["b2.json", "b3.json"]);
    const state = intakeReducer(
      { sources, batch: null, taking: null },
      { do: "sent", views: items, at: 1, left: rest.left, look: 2 },
    );
    expect(state.sources).toEqual(
      ["b2.json", "b3.json"].map((path) => ({ path, found: undefined, look: 2, chosen: 1 })),
    );
    expect(state.batch?.ids).toEqual([7]);
    expect(state.batch?.rest).toEqual([]);
  });

  it("leaves as it was what could not even be looked at", () => {
    const items = [of(first, 7), of(second, 8), { ...NONE, problem: FULL }];
    const again = new Set(["b3.json"]);
    expect(leftOf(sources, again, { items, gone: NONE })).toEqual({ left: { gone: [first, second], anew: [] }, again });
  });

  it("leaves what was sent before where it can be taken back, if all of the next list failed", () => {
    const batch = { ids: [7], rest: [], sentAt: 1, held: null };
    const items = sources.map((source) => of(source, null));
    const { left } = leftOf(sources, all, { items, gone: NONE });
    const state = intakeReducer({ sources, batch, taking: null }, { do: "sent", views: items, at: 2, left, look: 2 });
    expect(state.batch).toEqual(batch);
    expect(state.sources.map(({ look }) => look)).toEqual([2, 2, 2]);
  });

  it("looks at a folder again of which a part was taken in, and sends none of it again by itself", () => {
    const folder = { path: "out", found: sources.flatMap((source) => source.found), look: 1, chosen: 1 };
    const view = { files: folder.found, submissions: [7, null, 8], failed: [1], problem: FULL };
    const rest = leftOf([folder], new Set(["out"]), { items: [view], gone: NONE });
    expect(rest).toEqual({ left: { gone: [folder], anew: [folder] }, again: new Set() });
  });

  it("looks again at what has changed meanwhile, and at what is gone, and at nothing else", () => {
    const changed = of(second, null);
    changed.files = [{ ...candidate("b2.json", 0), digest: "another" }];
    const away = { ...candidate("b3.json", 0), digest: "away" };
    const list = [first, second, { ...at("b3.json"), found: [away] }].flatMap((source) => source ?? []);
    const gone = { files: [away], submissions: [null], failed: [0], problem: FULL };
    const rest = leftOf(list, all, { items: [of(first, 7), changed, NONE], gone });
    expect(rest).toEqual({ left: { gone: list, anew: list.slice(1) }, again: new Set() });
  });

  it("looks at a pasted text again, too, beside which something has gone", () => {
    const pasted = { ...at("pasted:1"), pasted: { name: "Text 1", text: "{}" }, found: [candidate("text.json", 9)] };
    const step = { do: "sent" as const, views: [of(first, 7)], at: 1, left: { gone: [], anew: [pasted] }, look: 2 };
    const [after] = intakeReducer({ sources: [pasted], batch: null, taking: null }, step).sources;
    expect(after).toMatchObject({ path: "pasted:1", found: undefined, look: 2 });
  });

  it("takes nothing from the list when a report is pasted or corrected", () => {
    const step = { do: "sent" as const, views: [of(first, 7)], at: 1, left: { gone: [], anew: [] }, look: 2 };
    expect(intakeReducer({ sources, batch: null, taking: null }, step).sources).toEqual(sources);
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
    const query = { ...ALL, before: null, limit: 10 };
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
