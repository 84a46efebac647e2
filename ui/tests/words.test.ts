// What stands in a document, an answer or a figure, as people read it.

import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import type { DayView } from "../src/bridge/generated/DayView";
import { endpointName, loadWords } from "../src/i18n/text";
import { medianOf, spansOf, totalsByDay, weekBefore } from "../src/parts/day-chart";
import { indented } from "../src/parts/indented";
import { csv } from "../src/parts/table-text";

describe("a date of a document", () => {
  it.each([
    ["1984-02-11", "11 février 1984"],
    ["1984-02", "février 1984"],
    ["1984", "1984"],
    ["last spring", "last spring"],
    ["1980-13-01", "1980-13-01"],
    ["1987-02-30", "1987-02-30"],
    ["2023-07-14T11:10:00+02:00", "14 juillet 2023"],
  ])("%s is said as precisely as it is known", async (date, said) => {
    const { format } = await loadWords("fr");
    expect(format.date(date)).toBe(said);
  });
});

describe("a moment in a sentence", () => {
  beforeEach(() => void vi.useFakeTimers().setSystemTime(new Date(2026, 10, 29, 12)));
  afterEach(() => void vi.useRealTimers());

  const [today, yesterday] = [new Date(2026, 10, 29, 10, 9), new Date(2026, 10, 28, 10, 9)];
  const [eighth, lastYear] = [new Date(2026, 10, 8, 10, 9), new Date(2025, 2, 12, 10, 9)];

  it.each([
    ["en", ["at 10:09", "on 28 Nov at 10:09", "on 8 Nov at 10:09", "on 12 Mar 2025"]],
    ["de", ["um 10:09", "am 28. Nov. um 10:09", "am 8. Nov. um 10:09", "am 12. März 2025"]],
    ["fr", ["à 10:09", "le 28 nov. à 10:09", "le 8 nov. à 10:09", "le 12 mars 2025"]],
    ["it", ["alle 10:09", "il 28 nov alle 10:09", "l’8 nov alle 10:09", "il 12 mar 2025"]],
  ] as const)("has in %s the preposition of a time or of a day", async (language, said) => {
    const { format } = await loadWords(language);
    const shown = [today, yesterday, eighth, lastYear].map((date) => format.at(date.toISOString()));
    expect(shown).toEqual(said);
  });

  it("that cannot be read stands as it came", async () => {
    const { format } = await loadWords("en");
    expect(format.at("yesterday")).toBe("yesterday");
  });
});

describe("how long content is kept", () => {
  it.each([
    ["en", "5 years", "90 days"],
    ["de", "5 Jahre", "90 Tage"],
    ["fr", "5 ans", "90 jours"],
    ["it", "5 anni", "90 giorni"],
  ] as const)("is said in %s in years where it is years", async (language, years, days) => {
    const { text } = await loadWords(language);
    expect(text("retention.days", { n: 1825 })).toBe(years);
    expect(text("retention.days", { n: 90 })).toBe(days);
    expect(text("retention.kept", { n: 1825 })).toContain(years);
    expect(text.code("change.retention-set", { days: "1825" })).toContain(years);
  });
});

describe("a length of time", () => {
  it.each([
    [1, "1 second"],
    [119, "119 seconds"],
    [260, "4 minutes"],
    [7_200, "2 hours"],
    [200_000, "2 days"],
  ])("of %d seconds is said as %s", async (seconds, said) => {
    const { format } = await loadWords("en");
    expect(format.duration(seconds)).toBe(said);
  });
});

describe("a number of bytes", () => {
  it.each([
    [1, "1 byte"],
    [999, "999 bytes"],
    [1_000, "1 kB"],
    [800_449, "800.4 kB"],
    [20_971_520, "21 MB"],
  ])("of %d is said as %s", async (bytes, said) => {
    const { format } = await loadWords("en");
    expect(format.bytes(bytes)).toBe(said);
  });

  it.each([
    ["en", "The report is larger than 5 MB.", "5 levels"],
    ["de", "Die Meldung ist grösser als 5 MB.", "5 Ebenen"],
    ["fr", "La déclaration dépasse 5\u202fMo.", "5 niveaux"],
    ["it", "La dichiarazione supera 5 MB.", "5 livelli"],
  ] as const)(
    "is a size in a sentence in %s, and a count with the same name is none",
    async (language, size, count) => {
      const { text } = await loadWords(language);
      expect(text.code("finding.too-large", { limit: "5000000" })).toBe(size);
      expect(text.code("finding.too-deep", { limit: "5" })).toContain(count);
      expect(text.code("problem.certificate-too-large.more", { bytes: "2100000", limit: "…" })).toMatch(
        /2[.,]1.M[Bo].*…/,
      );
    },
  );
});

describe("a table as text", () => {
  it("keeps commas, quotes and lines in their cell, and no formula runs", () => {
    expect(
      csv([
        ["a", 'b "c", d', 3],
        ["=1+1", "x\ny", null],
      ]),
    ).toBe('a,"b ""c"", d",3\r\n\'=1+1,"x\ny",\r\n');
  });
});

describe("the days of a chart", () => {
  const day = (at: number): DayView => ({
    date: `day ${at}`,
    byState: at % 2 === 0 ? { completed: 1 } : { completed: 1, failed: 2 },
  });

  it("are bars of their own, or weeks that end today", () => {
    expect(spansOf(Array.from({ length: 30 }, (_, at) => day(at)))).toHaveLength(30);
    const weeks = spansOf(Array.from({ length: 365 }, (_, at) => day(at)));
    expect(weeks).toHaveLength(53);
    expect(weeks[0]).toMatchObject({ first: "day 0", last: "day 0" });
    expect(weeks[52]).toEqual({ first: "day 358", last: "day 364", byState: { completed: 7, failed: 6 } });
  });

  it("have the same days of the week before, where all of them are known", () => {
    const of = (date: string, completed: number): DayView => ({ date, byState: { completed } });
    const totals = totalsByDay([of("2026-02-26", 3), of("2026-02-27", 4), of("2026-03-05", 9)]);
    expect(weekBefore({ first: "2026-03-05", last: "2026-03-05" }, totals)).toBe(3);
    expect(weekBefore({ first: "2026-03-05", last: "2026-03-06" }, totals)).toBe(7);
    expect(weekBefore({ first: "2026-03-06", last: "2026-03-07" }, totals)).toBeUndefined();
  });

  it("count a correction in place of what it corrects", () => {
    const days: DayView[] = [{ date: "2026-02-26", byState: { completed: 3, superseded: 2 } }];
    expect(totalsByDay(days).get("2026-02-26")).toBe(3);
  });
});

describe("the median of a chart", () => {
  const days = (...counts: number[]): DayView[] =>
    counts.map((completed, at) => ({ date: `day ${at}`, byState: { completed } }));

  it("is that of the days with reports, whatever the order, and counts every state", () => {
    expect(medianOf(days(0, 9, 0, 3, 14, 20, 1, 30, 15, 0))).toBe(14);
    expect(medianOf(days(1, 2, 3, 4, 5, 6, 7, 8))).toBe(4.5);
    const failed: DayView = { date: "another day", byState: { completed: 2, failed: 98 } };
    expect(medianOf([...days(1, 1, 1, 100, 100, 100), failed])).toBe(100);
  });

  it("is not said of fewer than seven days with reports", () => {
    expect(medianOf(days(1, 2, 3, 4, 5, 6, 0, 0, 0))).toBeUndefined();
    expect(medianOf(days(1, 2, 3, 4, 5, 6, 7))).toBe(4);
  });
});

describe("an answer on one line", () => {
  it("is indented, and not one character but white space is another", () => {
    const answer = '{"a":[1.50,{"b":"x: [y], \\"{z"}],"c":{},"d":1E400}';
    const shown = indented(answer);
    expect(shown).toBe(
      '{\n  "a": [\n    1.50,\n    {\n      "b": "x: [y], \\"{z"\n    }\n  ],\n  "c": {},\n  "d": 1E400\n}',
    );
  });

  it.each(['{\n"a":1}', "<html>{}</html>", "", '{"cut": "in the mid'])(
    "that is none is shown as it is: %s",
    (answer) => {
      expect(indented(answer).replace(/\s/g, "")).toBe(answer.replace(/\s/g, ""));
    },
  );
});

describe("a pause", () => {
  it.each([
    ["de", /angehalten|anhalten/i],
    ["fr", /reten/i],
    ["it", /tratt?en/i],
  ] as const)("is in %s another word than a report on hold", async (language, onHold) => {
    const { text } = await loadWords(language);
    for (const id of ["state.held", "action.hold-back", "done.hold-back", "bulk.undo.reason"]) {
      expect(text.code(id)).toMatch(onHold);
    }
    for (const n of [0, 1, 2]) expect(text.code("decided.hold-back", { n })).toMatch(onHold);
    const paused = [
      "settings.pause",
      "rail.paused",
      "standing.laboratory.paused",
      "problem.pause-unknown",
      "problem.pause-unknown.more",
    ];
    for (const id of paused) expect(text.code(id)).not.toMatch(onHold);
  });
});

describe("the endpoint of practice", () => {
  it("is called as practice is in the reader's language; nobody gave it its name", async () => {
    const { text } = await loadWords("de");
    expect(endpointName(text, "practice")).toBe("Übung");
    expect(endpointName(text, "BAG")).toBe("BAG");
  });
});
