// What a report says by codes, in the reader's language: which codes have words, and where the report's own stay.

import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";

import { describe, expect, it } from "vitest";

import { readCatalogue } from "../build/catalogues";
import { LANGUAGES, loadWords } from "../src/i18n/text";
import { inReadersWords, saysTheSame } from "../src/parts/coded";

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const SNOMED = "http://snomed.info/sct";
const INTERPRETATION = "http://terminology.hl7.org/CodeSystem/v3-ObservationInterpretation";
const english = readCatalogue("en");
const idOf = (system: string, code: string) => `${system === SNOMED ? "snomed" : "interpretation"}.${code}`;

/** Where in a report the codes of specimens and interpretations stand. */
const PLACES = new Set(["type", "bodySite", "interpretation"]);

/** The ids of these codes in a report, JSON or XML. */
function idsIn(report: string): string[] {
  if (report.trimStart().startsWith("<")) {
    const found = report.matchAll(
      /<(?:type|interpretation)>\s*<coding>\s*<system value="([^"]*)"\/>\s*<code value="([^"]*)"/g,
    );
    return [...found].flatMap(([, system, code]) =>
      system === SNOMED || system === INTERPRETATION ? [idOf(system, code ?? "")] : [],
    );
  }
  const ids: string[] = [];
  const walk = (part: unknown, isAsked: boolean): void => {
    if (Array.isArray(part)) return part.forEach((inner) => walk(inner, isAsked));
    if (typeof part !== "object" || part === null) return;
    const { system, code } = part as { system?: unknown; code?: unknown };
    if (isAsked && (system === SNOMED || system === INTERPRETATION)) ids.push(idOf(system, String(code)));
    Object.entries(part).forEach(([name, inner]) => walk(inner, isAsked ? name === "coding" : PLACES.has(name)));
  };
  walk(JSON.parse(report), false);
  return ids;
}

/** What of these ids no catalogue has words for. */
const wordless = (ids: string[]) => [...new Set(ids)].filter((id) => !english.has(id));

describe("the codes of specimens and interpretations have words", () => {
  const reportsIn = (folder: string) =>
    readdirSync(folder, { recursive: true, encoding: "utf8" })
      .filter((file) => /\.(json|xml)$/.test(file))
      .map((file) => readFileSync(join(folder, file), "utf8"));

  it("in every sample", () => {
    const ids = reportsIn(here("../../crates/bridge/samples")).flatMap(idsIn);
    expect(ids).toEqual(expect.arrayContaining(["snomed.119339001", "snomed.122575003", "interpretation.POS"]));
    expect(wordless(ids)).toEqual([]);
  });

  const corpus = here("../../../shared/corpus/documents");
  it.skipIf(!existsSync(corpus))("in every published document", () => {
    const ids = reportsIn(corpus).flatMap(idsIn);
    expect(ids).toContain("snomed.119393003");
    expect(wordless(ids)).toEqual([]);
  });

  const rules = here("../../../shared/packages/ch.fhir.ig.ch-elm-1.14.0-cibuild.tgz");
  it.skipIf(!existsSync(rules))("as far as the authority's rules list them", () => {
    const sets = valueSets(gunzipSync(readFileSync(rules)), /-spec\.|interpretation-codes-(?!vs)|coded-values/);
    const ids = sets.flatMap(({ compose }) =>
      (compose?.include ?? []).flatMap(({ system = "", concept = [] }) =>
        concept.map(({ code }) => idOf(system, code)),
      ),
    );
    expect(ids.length).toBeGreaterThan(70);
    expect(wordless(ids)).toEqual([]);
  });

  // The name of an organism is that of science, and the same in each language, unless it is that of a group.
  it.skipIf(!existsSync(rules))("as far as they list results that are no organism's name of science", () => {
    const sets = valueSets(gunzipSync(readFileSync(rules)), /-results-.*-org(-complete)?\./);
    const listed = sets.flatMap(({ compose }) => (compose?.include ?? []).flatMap(({ concept = [] }) => concept));
    const named = listed.filter(({ display = "" }) =>
      /^Salmonella,? (sero)?group |\((?!organism\))[^()]*\)$/.test(display),
    );
    expect(named.length).toBeGreaterThan(70);
    expect(wordless(named.map(({ code }) => idOf(SNOMED, code)))).toEqual([]);
  });
});

interface ValueSet {
  compose?: { include?: { system?: string; concept?: { code: string; display?: string }[] }[] };
}

/** The value sets of a package: an archive of blocks of 512 bytes, a header before each file. */
function valueSets(archive: Uint8Array, named: RegExp): ValueSet[] {
  const read = (from: number, size: number) => new TextDecoder().decode(archive.subarray(from, from + size));
  const sets: ValueSet[] = [];
  for (let at = 0; at < archive.length && archive[at] !== 0;) {
    const size = parseInt(read(at + 124, 12), 8);
    const [name = ""] = read(at, 100).split("\0");
    if (name.includes("ValueSet-") && named.test(name)) sets.push(JSON.parse(read(at + 512, size)) as ValueSet);
    at += 512 + Math.ceil(size / 512) * 512;
  }
  return sets;
}

describe("the table of codes", () => {
  const CODED = /^(snomed|loinc|interpretation|category)\./;
  const ids = [...english.keys()].filter((id) => CODED.test(id));

  it("has each code in four languages, and none stays English by oversight", () => {
    expect(ids.length).toBeGreaterThan(300);
    const inEnglish = /\b(specimen|swab|virus|detected|positive|negative|genus|type|serovar|serogroup)\b/i;
    for (const { code } of LANGUAGES) {
      const texts = readCatalogue(code);
      for (const id of ids) {
        expect(texts.get(id)?.trim(), `${code}: ${id}`).toBeTruthy();
        const first = english.get(id) ?? "";
        if (code !== "en" && inEnglish.test(first)) expect(texts.get(id), `${code}: ${id}`).not.toBe(first);
      }
    }
  });

  it("says of a code what is said of the outcome that it stands for", () => {
    const outcomes = readFileSync(here("../../crates/bridge/src/outcomes.rs"), "utf8");
    // Several codes stand for these, and say more than the outcome does.
    const pairs = [...outcomes.matchAll(/\("([^"]+)", "((?!positive|negative|indeterminate)[a-z-]+)"\)/g)];
    expect(pairs.length).toBeGreaterThan(15);
    for (const { code: language } of LANGUAGES) {
      const texts = readCatalogue(language);
      for (const [, code = "", outcome] of pairs) {
        const id = /^\d{6}/.test(code) ? `snomed.${code}` : `interpretation.${code}`;
        expect(texts.get(id), `${language}: ${id}`).toBe(texts.get(`outcome.${outcome}`));
      }
    }
  });

  it("has every organism whose name is English, and not that of science", () => {
    const table = readFileSync(here("../../crates/report/src/diseases/organisms.tsv"), "utf8");
    const organisms = table.split("\n").filter((line) => line && !line.startsWith("#"));
    const inEnglish =
      /virus|type|sero|group|genus|subspecies|classical|\bnot\b|\bnon-|complex|variant|producing|prion/i;
    const named = organisms.map((line) => line.split("\t")).filter(([, name]) => inEnglish.test(name ?? ""));
    expect(named.length).toBeGreaterThan(90);
    expect(wordless(named.map(([code]) => idOf(SNOMED, code ?? "")))).toEqual([]);
  });

  it("has words that are of one line, and no code among them", () => {
    for (const { code } of LANGUAGES) {
      const texts = readCatalogue(code);
      for (const id of ids) expect(texts.get(id), `${code}: ${id}`).not.toMatch(/[\n{}]|\d{6}/);
    }
  });
});

describe("a value with codes", () => {
  it("is in the reader's words by its code, whatever the report calls it", async () => {
    const { text } = await loadWords("fr");
    const coded = [{ own: "Measles virus (organism)", isOurs: false, id: "snomed.52584002" }];
    expect(inReadersWords(text, "Measles virus (organism)", coded)).toBe("Virus de la rougeole");
  });

  it("is as in the report where no code of it is known", async () => {
    const { text } = await loadWords("de");
    expect(inReadersWords(text, "Eigene Probe", [{ own: "Eigene Probe", isOurs: false, id: "snomed.1" }])).toBe(
      "Eigene Probe",
    );
    expect(inReadersWords(text, "Eigene Probe", [])).toBe("Eigene Probe");
  });

  it("of several parts has each in words, and keeps what stands between", async () => {
    const { text } = await loadWords("de");
    const coded = [
      { own: "Isoniazid [Susceptibility]", isOurs: false, id: "loinc.18934-0" },
      { own: "Resistant", isOurs: false, id: "interpretation.R" },
    ];
    expect(inReadersWords(text, "Isoniazid [Susceptibility]: Resistant", coded)).toBe(
      "Isoniazid (Empfindlichkeit): Resistent",
    );
    const second = [{ own: "A", isOurs: false, id: "snomed.1" }, ...coded.slice(1)];
    expect(inReadersWords(text, "A: Resistant", second)).toBe("A: Resistent");
  });

  it("has nothing replaced that only holds what a code is called", async () => {
    const { text } = await loadWords("de");
    const coded = (own: string, id: string) => ({ own, isOurs: false, id });
    const bare = coded("R", "interpretation.R");
    expect(inReadersWords(text, "Rifabutin [Susceptibility]: R", [bare])).toBe("Rifabutin [Susceptibility]: Resistent");
    const positive = coded("Positive", "snomed.10828004");
    expect(inReadersWords(text, "Positive control: Positive", [positive])).toBe("Positive control: Positiv");
    // The first part is not known, and not looked for again in the second.
    const both = [coded("R", "snomed.1"), bare];
    expect(inReadersWords(text, "R: R", both)).toBe("R: Resistent");
    expect(inReadersWords(text, "Streptomycin", [coded("S", "interpretation.S")])).toBe("Streptomycin");
  });

  it("says the same where SNOMED CT only adds of what kind a name is", () => {
    expect(saysTheSame("Positive", "Positive (qualifier value)")).toBe(true);
    expect(saysTheSame("Stool specimen", "Stool specimen (specimen)")).toBe(true);
    expect(saysTheSame("Group 1", "Group 1 (first)")).toBe(false);
    expect(saysTheSame("Negativ", "Positive")).toBe(false);
  });
});
