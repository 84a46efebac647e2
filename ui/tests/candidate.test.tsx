// @vitest-environment jsdom
// A row of Send: what was found is called by its name, and a file that cannot be read has one.

import { expect, it } from "vitest";

import type { CandidateView } from "../src/bridge/generated/CandidateView";
import { BLANK } from "../src/bridge/mock/messages";
import { candidate } from "../src/bridge/mock/reports";
import { CandidateRow } from "../src/parts/candidate";
import { render } from "./render";

const found = (severity: "error" | "warning" | "information") => ({ ...BLANK, severity });

it.each([
  ["en", "1 error, 2 warnings, 1 notice"],
  ["de", "1 Fehler, 2 Warnungen, 1 Hinweis"],
  ["fr", "1 erreur, 2 avertissements, 1 remarque"],
  ["it", "1 errore, 2 avvertenze, 1 segnalazione"],
] as const)("an error is an error, and not a notice, in %s", async (language, said) => {
  const view: CandidateView = {
    ...candidate("a.json", 0),
    verdict: "errors",
    messages: [found("error"), found("warning"), found("warning"), found("information")],
  };
  const row = await render(<CandidateRow view={view} />, language);
  expect(row.textContent).toContain(said);
});

it("what cannot be read is called so, and not something that is no report", async () => {
  const view: CandidateView = {
    ...candidate("a.json", 0),
    verdict: "refused",
    kind: "unknown",
    disease: null,
    subject: null,
    messages: [{ ...BLANK, code: "json-syntax", params: { expected: ":", found: "o" } }],
  };
  const row = await render(<CandidateRow view={view} />);
  expect(row.textContent).toContain("Unreadable");
  expect(row.textContent).not.toContain("Not a report");
  const other = await render(<CandidateRow view={{ ...view, kind: "pdf" }} />);
  expect(other.textContent).toContain("Not a report");
});

it("a file that takes the place of a report with a draft says that this is lost, unless it goes as another one", async () => {
  const corrects = { id: 7, state: "failed", updated: "2026-11-01T08:00:00Z", possible: true, changes: [], changed: 0 };
  const view = (draft: boolean): CandidateView => ({
    ...candidate("a.json", 0),
    corrects: { ...corrects, state: "failed", draft },
  });
  const note = (row: HTMLElement) => row.querySelector('[data-testid="corrects-draft"]')?.textContent;
  expect(note(await render(<CandidateRow view={view(true)} />))).toContain("That draft is lost once this file is sent");
  expect(note(await render(<CandidateRow view={view(false)} />))).toBeUndefined();
  expect(note(await render(<CandidateRow view={view(true)} separate />))).toBeUndefined();
});
