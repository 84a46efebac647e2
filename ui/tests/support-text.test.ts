// What is copied for an authority's support names the report by its numbers, and nobody.

import { expect, it } from "vitest";

import { detail } from "../src/bridge/mock/detail";
import { BLANK } from "../src/bridge/mock/messages";
import { row } from "../src/bridge/mock/reports";
import { loadWords } from "../src/i18n/text";
import { sentenceOf } from "../src/parts/said";
import { supportText } from "../src/parts/support-text";

it("has identifiers, times, the status and the authority's words, and nothing of the patient or the file", async () => {
  const { text } = await loadWords("en");
  const of = {
    ...row(7, 0, Date.UTC(2026, 10, 24)),
    state: "failed" as const,
    patient: "Zwingli, Anna",
    file: "zwingli-anna.json",
    laboratory: "Riverside",
  };
  const said = {
    ...BLANK,
    source: "authority" as const,
    severity: "error" as const,
    code: "invalid",
    rule: "FOPH-012",
    text: "The postal code of Anna ZWINGLI, born 1984-02-11, is not known.",
  };
  const own = { ...BLANK, source: "local" as const, code: "test-old", text: null };
  const view = {
    ...detail(of, "Zwingli, Anna"),
    birthDate: "1984-02-11",
    receipt: "receipt-17",
    identifier: "urn:uuid:one",
    digest: "ab".repeat(32),
    messages: [said, own],
  };
  view.timeline = [
    {
      event: "failed",
      params: { reason: "Anna Zwingli" },
      person: "anna@lab",
      at: "2026-11-24T07:00:00Z",
      evidence: { httpStatus: 200, contentType: "application/fhir+json", body: "Zwingli", truncated: false },
    },
  ];
  const copied = supportText(text, view);
  for (const part of [
    "receipt-17",
    "urn:uuid:one",
    view.digest,
    "Failed",
    "FOPH-012",
    "The postal code of A… Z…, born 1…, is not known.",
    "2026-11-24T07:00:00Z",
    "HTTP 200",
  ]) {
    expect(copied).toContain(part);
  }
  expect(copied).not.toMatch(/zwingli|anna|test-old/i);
});

it("says of each kind of file that is no report what to do with it", async () => {
  const { text } = await loadWords("en");
  const of = (kind: string, type = "") =>
    sentenceOf(text, {
      ...BLANK,
      source: "local",
      code: "not-a-report",
      rule: null,
      params: { kind, "resource-type": type },
    });
  expect(of("pdf")).toContain("This is a PDF. Export the report");
  expect(of("fhir-other", "Patient")).toContain("A single “Patient” record");
  expect(of("binary")).toContain("This is not a report.");
});
