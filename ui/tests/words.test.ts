// What stands in a document or an answer, as people read it.

import { describe, expect, it } from "vitest";

import { loadWords } from "../src/i18n/text";
import { indented } from "../src/parts/indented";

describe("a date of a document", () => {
  it.each([
    ["1984-02-11", "11 février 1984"],
    ["1984-02", "février 1984"],
    ["1984", "1984"],
    ["last spring", "last spring"],
  ])("%s is said as precisely as it is known", async (date, said) => {
    const { format } = await loadWords("fr");
    expect(format.date(date)).toBe(said);
  });
});

describe("an answer on one line", () => {
  it("is indented, and not one character but white space is another", () => {
    const answer = '{"a":[1.50,{"b":"x: [y], \\"{z"}],"c":{},"d":1E400}';
    const shown = indented(answer);
    expect(shown).toBe('{\n  "a": [\n    1.50,\n    {\n      "b": "x: [y], \\"{z"\n    }\n  ],\n  "c": {},\n  "d": 1E400\n}');
  });

  it.each(['{\n"a":1}', "<html>{}</html>", "", '{"cut": "in the mid'])("that is none is shown as it is: %s", (answer) => {
    expect(indented(answer).replace(/\s/g, "")).toBe(answer.replace(/\s/g, ""));
  });
});
