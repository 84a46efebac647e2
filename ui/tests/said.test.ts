// Sentences about elements name them as people do, in every language; sentences about how something is written, as it is written.

import { describe, expect, it } from "vitest";

import { readCatalogue } from "../build/catalogues";
import type { MessageView } from "../src/bridge/generated/MessageView";
import { BLANK } from "../src/bridge/mock/messages";
import { LANGUAGES, loadWords } from "../src/i18n/text";
import { problemText } from "../src/kit/notes";
import { helpOf, leadingWords, namedElement, sentenceOf, shownSentence, valuesOf } from "../src/parts/said";

const missing = (element: string, path: string | null = null): MessageView => ({
  ...BLANK,
  source: "local",
  code: "rule-missing",
  params: { element, expected: "1", found: "0", profile: "http://rules.test/a" },
  path,
});

describe.each(LANGUAGES.map(({ code }) => code))("sentences in %s", (language) => {
  it("have people's words for FHIR's elements", async () => {
    const { text } = await loadWords(language);
    for (const element of ["family", "telecom", "birthDate", "value[x]", "valueQuantity", "specimen"]) {
      expect(sentenceOf(text, missing(element)), element).not.toContain(element);
    }
    // An element that nobody has a word for stands for itself.
    expect(sentenceOf(text, missing("udiCarrier"))).toContain("udiCarrier");
  });
});

describe.each(LANGUAGES.map(({ code }) => code))("a value in %s", (language) => {
  const of = (found: string): MessageView => ({
    ...missing("status"),
    code: "rule-fixed-value",
    params: { element: "status", expected: "final", found },
  });

  it("that is the word “none” is that word, and not told as being absent", async () => {
    const { text } = await loadWords(language);
    expect(sentenceOf(text, of("none"))).toContain("none");
    expect(sentenceOf(text, of(""))).toContain(text("absent.found"));
    // No value of a report has the words for what is absent.
    for (const family of ["value", "found", "expected"]) expect(text.code(`${family}.none`)).toBeUndefined();
  });
});

describe.each(LANGUAGES.map(({ code }) => code))("a sentence in %s is whole", (language) => {
  const of = (code: string, params: Record<string, string>): MessageView => ({ ...missing("code"), code, params });
  const EMPTY = [
    "bundle-type",
    "first-entry-not-composition",
    "envelope-document-type",
    "envelope-identifier-system",
    "envelope-identifier-value",
    "envelope-root",
    "envelope-status",
  ];

  it("where what it is about is not there at all", async () => {
    const { text } = await loadWords(language);
    for (const code of EMPTY) {
      const said = sentenceOf(text, of(code, { found: "" }));
      // Nothing between quotation marks, nothing before the end, no space twice.
      expect(said, code).not.toMatch(/[“«]\s*[”»]| [,.]| {2}/u);
      expect(said, code).not.toEqual(sentenceOf(text, of(code, { found: "batch" })));
    }
    const pattern = sentenceOf(text, of("rule-fixed-value", { element: "status", expected: "final", found: "" }));
    expect(pattern).toMatch(/\p{L}\.$/u);
  });

  it("where an element is missing: its type is not what it is missing in", async () => {
    const { text } = await loadWords(language);
    expect(sentenceOf(text, of("missing-element", { element: "type", type: "code" }))).not.toMatch(/\bcode\b/);
    expect(sentenceOf(text, of("missing-element", { element: "value[x]", type: "" }))).not.toMatch(/\s[,.]|in $/);
  });

  it("and says a size as people read it", async () => {
    const { text } = await loadWords(language);
    const said = sentenceOf(text, of("rule-too-large", { element: "data", found: "5000000", expected: "4200000" }));
    expect(said).toMatch(/5\s(MB|Mo)/u);
    expect(said).not.toContain("5000000");
  });

  it("and says two sizes that are to be the same to the byte", async () => {
    const { text } = await loadWords(language);
    const said = sentenceOf(text, of("rule-attachment-size", { found: "48211", expected: "48213" }));
    expect(said).toMatch(/48211 \p{L}+.*48213 \p{L}+/u);
  });
});

describe.each(LANGUAGES.map(({ code }) => code))("what JSON and lists ask for in %s", (language) => {
  it("is said where nobody would see what was found", async () => {
    const { text } = await loadWords(language);
    const broken = (found: string): MessageView => ({
      ...missing("code"),
      code: "json-syntax",
      params: { expected: "a key", found },
    });
    expect(valuesOf(broken("\n"), "", text)).toEqual({
      found: text("syntax.line-end"),
      expected: text("syntax.a key"),
    });
    expect(valuesOf(broken("\t"), "", text).found).toBe(text("syntax.blank"));
    expect(valuesOf(broken("}"), "", text).found).toBe("}");
  });

  it("is called as in the list from which it is chosen", async () => {
    const { text } = await loadWords(language);
    const params = { element: "gender", value: "f", expected: "female, male, weird" };
    const message = { ...missing("gender", "Patient.gender"), code: "code-not-allowed", params };
    const said = sentenceOf(text, message);
    expect(said).toContain(`${text.code("choice.female")}, ${text.code("choice.male")}, weird`);
    expect(valuesOf(message, said, text)).toEqual({ found: null, expected: null });
  });
});

describe("the name of an element", () => {
  it("is that of its place, else that of its name, and says which slice is meant", async () => {
    const { text } = await loadWords("en");
    expect(sentenceOf(text, missing("code", "Observation.code.coding"))).toMatch(/^Code of the test is missing/);
    expect(sentenceOf(text, missing("code", "Device.type.coding"))).toMatch(/^Code is missing/);
    expect(sentenceOf(text, missing("identifier:AHVN13"))).toMatch(/^Identifier \(AHVN13\) is missing/);
    // A slice that is a type of a choice has a name of its own.
    expect(sentenceOf(text, missing("value[x]:valueRatio"))).toMatch(/^Result as a ratio is missing/);
  });

  it("stays as it is where the sentence is about how it is written", async () => {
    const { text } = await loadWords("en");
    const written = { ...missing("family"), code: "unknown-element", params: { element: "family", type: "Address" } };
    expect(sentenceOf(text, written)).toContain("“family”");
  });
});

describe("what says too much of a patient", () => {
  // The rule that is broken by it speaks of the name alone, or of all that is permitted.
  const told = (code: string, element: string, rule: string): MessageView => ({
    ...BLANK,
    source: "local",
    code,
    rule,
    params: { element, value: "76078-5", expected: "initials", rule },
    path: `Patient.${element}`,
  });

  it("is named itself, whichever rule it breaks", async () => {
    for (const { code } of LANGUAGES) {
      const { text } = await loadWords(code);
      for (const rule of ["practice-name-form", "ch-elm-patient-name-representation-initial-loinc"]) {
        const [family, telecom] = [
          told("rule-privacy-initials", "family", rule),
          told("rule-privacy-not-permitted", "telecom", rule),
        ];
        expect(sentenceOf(text, family), code).toContain("76078-5");
        expect(sentenceOf(text, telecom), code).toContain(text.code("element.telecom") ?? "telecom");
        expect(sentenceOf(text, telecom), code).not.toBe(sentenceOf(text, family));
      }
    }
  });

  it("is said by the rule where the authority or an invariant says it", async () => {
    const { text } = await loadWords("en");
    const invariant = {
      ...told("rule-invariant", "name", "ch-elm-patient-name-representation-initial-loinc"),
      path: null,
    };
    expect(sentenceOf(text, invariant)).toMatch(/^For this organism the authority may see only/);
    expect(sentenceOf(text, { ...invariant, source: "authority", code: "invariant" })).toBe(
      sentenceOf(text, invariant),
    );
  });
});

describe("while names are hidden", () => {
  const born: MessageView = {
    ...BLANK,
    source: "local",
    code: "birth-date-after-document",
    params: { "birth-date": "2999-01-01", date: "2026-11-24" },
  };

  it("a sentence has no birth date, and has it once they are shown", async () => {
    for (const { code } of LANGUAGES) {
      const { text } = await loadWords(code);
      expect(shownSentence(text, born, true), code).not.toMatch(/2999|2026/);
      expect(shownSentence(text, born, true), code).toContain("…");
      const { format } = await loadWords(code);
      expect(shownSentence(text, born, false), code).toContain(format.date("2999-01-01"));
    }
  });

  it("a value stands there where its place names nobody, and what was asked for always does", async () => {
    const { text } = await loadWords("en");
    const wrong = (path: string | null): MessageView => ({
      ...BLANK,
      source: "local",
      code: "invalid-value",
      params: { element: "x", value: "1987-13-40", type: "date" },
      path,
    });
    expect(shownSentence(text, wrong(null), true)).not.toContain("1987");
    expect(shownSentence(text, wrong("Patient.birthDate"), true)).not.toContain("1987");
    expect(shownSentence(text, wrong("Observation.effectiveDateTime"), true)).toContain("1987-13-40");
    expect(shownSentence(text, missing("family", "Patient.name"), true)).toContain("at least 1");
  });

  it("what is not there at all is told as that, and not as something hidden", async () => {
    for (const { code } of LANGUAGES) {
      const { text } = await loadWords(code);
      const params = { element: "family", expected: "M", found: "" };
      const empty: MessageView = {
        ...BLANK,
        source: "local",
        code: "rule-fixed-value",
        params,
        path: "Patient.name.family",
      };
      expect(shownSentence(text, empty, true), code).toBe(shownSentence(text, empty, false));
      const full = { ...empty, params: { ...params, found: "Muster" } };
      expect(shownSentence(text, full, true), code).not.toBe(shownSentence(text, empty, true));
    }
  });
});

it("a size is said in its sentence, and not in bytes once more beside it", async () => {
  const { text } = await loadWords("en");
  const params = { element: "data", expected: "5000000", found: "7200000" };
  const large: MessageView = { ...BLANK, source: "local", code: "rule-too-large", params, found: "7200000" };
  const sentence = sentenceOf(text, large);
  expect(sentence).toContain("has 7.2 MB; at most 5 MB");
  expect(valuesOf(large, sentence, text)).toEqual({ found: null, expected: null });
});

describe("a day of a document", () => {
  const old: MessageView = {
    ...BLANK,
    source: "local",
    code: "test-old",
    params: { date: "2024-09-10T14:20:00+02:00", days: "806" },
    found: "2024-09-10T14:20:00+02:00",
  };

  it("is written as people write it, and not said once more beside the sentence", async () => {
    for (const [code, day] of [
      ["en", "10 September 2024"],
      ["de", "10. September 2024"],
      ["fr", "10 septembre 2024"],
      ["it", "10 settembre 2024"],
    ] as const) {
      const { text } = await loadWords(code);
      const sentence = sentenceOf(text, old);
      expect(sentence).toContain(day);
      expect(valuesOf(old, sentence, text)).toEqual({ found: null, expected: null });
    }
  });

  it("stays as it stands there where it is none", async () => {
    const { text } = await loadWords("en");
    const wrong = { ...old, code: "date-in-future", params: { date: "tomorrow" } };
    expect(sentenceOf(text, wrong)).toContain("tomorrow");
  });
});

describe("what the authority says", () => {
  it("has help: what usually is the cause, and what to change, for each of its rules and types", async () => {
    const ids = [...readCatalogue("en").keys()];
    const rules = ids.flatMap((id) => /^rule\.(FOPH-\d+)$/.exec(id)?.[1] ?? []);
    const issues = ids.flatMap((id) => /^issue\.(.+)$/.exec(id)?.[1] ?? []);
    expect(rules.length * issues.length).toBeGreaterThan(0);
    for (const { code: language } of LANGUAGES) {
      const { text } = await loadWords(language);
      const said = (message: Partial<MessageView>) =>
        helpOf(text, { ...BLANK, source: "authority", code: "processing", ...message });
      for (const rule of rules) expect(said({ rule }), `${language} ${rule}`).toBe(text.code(`rule.${rule}.more`));
      for (const rule of rules) expect(said({ rule })?.length, `${language} ${rule}`).toBeGreaterThan(20);
      for (const code of issues) expect(said({ rule: null, code }), `${language} ${code}`).toBeTruthy();
    }
  });
});

describe("a difference that is told by its element", () => {
  it.each(LANGUAGES.map(({ code }) => code))("has people's words for it in %s", async (language) => {
    const { text } = await loadWords(language);
    const line = namedElement(text, "Bundle.entry[2].resource.name[0].family = M…");
    expect(line).toBe(`${text.code("path.Patient.name.family")} = M…`);
    expect(namedElement(text, "Bundle.entry[2].resource.birthDate = 1…")).not.toContain("birthDate");
  });

  it("says in what it stands where it says nothing by itself", async () => {
    const { text } = await loadWords("en");
    const resource = "Bundle.entry[3].resource";
    expect(namedElement(text, `${resource}.specimen[0].type.coding[0].code = 2…`)).toBe("Type · Code = 2…");
    expect(namedElement(text, `${resource}.code.coding[0].code = 2…`)).toBe("Code = 2…");
    expect(namedElement(text, `${resource}.code.udiCarrier = a = b`)).toBe("udiCarrier = a = b");
  });

  it("stays as it is where it is a line of the source", async () => {
    const { text } = await loadWords("en");
    expect(namedElement(text, '  "family": "M…",')).toBe('  "family": "M…",');
  });
});

describe.each(LANGUAGES.map(({ code }) => code))("in %s", (language) => {
  it("what is expected in broken JSON is said in words, and a sign stays as it is", async () => {
    const { text } = await loadWords(language);
    const of = (expected: string): MessageView => ({ ...BLANK, code: "json-syntax", params: { expected, found: "}" } });
    const said = (expected: string) => valuesOf(of(expected), "", text).expected;
    for (const word of ["a key", "a value", "a number", "the end"]) {
      const id = text.code(`syntax.${word}`);
      expect(id).toBeDefined();
      expect(said(word)).toBe(id);
    }
    if (language !== "en") expect(said("a key")).not.toContain("key");
    expect(said('"')).toBe('"');
    expect(said(", or }")).toMatch(/^, \p{L}+ \}$/u);
    if (language !== "en") expect(said(", or ]")).not.toMatch(/\bor\b/);
  });

  it("a rule of the practice authority is explained beside its own words, with what to do", async () => {
    const { text } = await loadWords(language);
    const message: MessageView = {
      ...BLANK,
      source: "authority",
      severity: "warning",
      code: "value",
      rule: "identifier-uuid-malformed",
      text: "“urn:uuid:1” is not a well-formed UUID",
    };
    expect(sentenceOf(text, message)).toContain("UUID");
    expect(leadingWords(text, message)).toBeNull();
    expect(helpOf(text, message)).toBe(text.code("finding.identifier-uuid-malformed.more"));
  });

  it("a file that is no certificate is named by what it is", async () => {
    const { text } = await loadWords(language);
    const problem = (found: string) =>
      problemText(text, {
        code: "certificate-not-a-certificate-file",
        params: { found },
        blame: "you",
        remedy: "choose-other-file",
        trace: "",
      });
    for (const found of "public-key pkcs7 csr crl java-keystore ssh-key zip pdf xml json text empty unknown".split(" "))
      expect(problem(found).more, found).toMatch(/^\p{Lu}.+\.$/u);
    expect(problem("text").more).not.toMatch(/: text/);
  });
});
