// Sentences about elements name them as people do, in every language; sentences about how something is written, as it is written.

import { describe, expect, it } from "vitest";

import type { MessageView } from "../src/bridge/generated/MessageView";
import { BLANK } from "../src/bridge/mock-data";
import { LANGUAGES, loadWords } from "../src/i18n/text";
import { sentenceOf } from "../src/parts/said";

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

describe("the name of an element", () => {
  it("is that of its place, else that of its name, and says which slice is meant", async () => {
    const { text } = await loadWords("en");
    expect(sentenceOf(text, missing("code", "Observation.code.coding"))).toMatch(/^Code of the test is missing/);
    expect(sentenceOf(text, missing("code", "Device.type.coding"))).toMatch(/^Code is missing/);
    expect(sentenceOf(text, missing("identifier:AHVN13"))).toMatch(/^Identifier \(AHVN13\) is missing/);
  });

  it("stays as it is where the sentence is about how it is written", async () => {
    const { text } = await loadWords("en");
    const written = { ...missing("family"), code: "unknown-element", params: { element: "family", type: "Address" } };
    expect(sentenceOf(text, written)).toContain("“family”");
  });
});
