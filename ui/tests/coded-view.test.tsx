// @vitest-environment jsdom
// A report whose words are of another language than its reader's.

import { describe, expect, it } from "vitest";

import type { DetailView } from "../src/bridge/generated/DetailView";
import type { FormFieldView } from "../src/bridge/generated/FormFieldView";
import type { ResultView } from "../src/bridge/generated/ResultView";
import { detail } from "../src/bridge/mock/detail";
import { row } from "../src/bridge/mock/reports";
import { Findings } from "../src/parts/correct-findings";
import type { Edits } from "../src/parts/draft";
import { ReportContent } from "../src/parts/report-content";
import { Results } from "../src/parts/results";
import { render } from "./render";

describe("a report in another language than its reader's", () => {
  const view: DetailView = detail({ ...row(3, 3, 0), state: "completed" }, null);

  it("is read in the reader's words, with the report's own at hand", async () => {
    const element = await render(
      <ReportContent view={view} pointer={{ section: null, field: null, line: null }} />,
      "de",
    );
    const field = (key: string) => element.querySelector(`[data-field="${key}"] dd`);
    expect(field("observation.interpretation")?.textContent).toBe("PositivPOS");
    expect(field("specimen.type")?.textContent).toBe("Abstrich257261003");
    expect(field("specimen.type")?.querySelector("[title]")?.getAttribute("title")).toBe("In der Meldung: Swab");
    expect(field("composition.title")?.textContent).toBe("Laboratory report");
  });

  it("adds nothing where the report has the same words", async () => {
    const element = await render(<ReportContent view={view} pointer={{ section: null, field: null, line: null }} />);
    expect(element.querySelector('[data-field="specimen.type"] dd')?.textContent).toBe("Swab257261003");
    expect(element.querySelector('[data-field="specimen.type"] [title]')).toBeNull();
  });

  const coded = (own: string, id: string, isOurs = false) => ({ own, isOurs, id });
  const found = (own: Partial<ResultView>): ResultView => ({
    ...(view.results[0] as ResultView),
    disease: "measles",
    value: "Measles virus (organism)",
    valueCoded: coded("Measles virus (organism)", "snomed.52584002"),
    outcome: null,
    interpretation: "Critical abnormal",
    interpretationCoded: coded("Critical abnormal", "interpretation.AA"),
    ...own,
  });
  const cells = async (result: ResultView, language: "de" | "fr") => {
    const element = await render(<Results results={[result]} />, language);
    return [...element.querySelectorAll("tbody td")].map((cell) => cell.textContent);
  };

  it("names organism and interpretation of a result in the reader's words", async () => {
    expect(await cells(found({}), "de")).toEqual(["Masernvirus", "Kritisch auffällig"]);
    expect(await cells(found({}), "fr")).toEqual(["Virus de la rougeole", "Anormal critique"]);
  });

  it("says that words are the report's only where they are, and shows a code that has none", async () => {
    const result = found({ value: "Measles virus", valueCoded: coded("Measles virus", "snomed.52584002", true) });
    const shown = await render(<Results results={[result]} />, "de");
    const [cell] = shown.querySelectorAll("td");
    expect(cell?.textContent).toBe("Masernvirus");
    expect(cell?.querySelector("[title]")).toBeNull();
    const bare = structuredClone(view);
    const type = bare.sections.flatMap(({ fields }) => fields).find(({ key }) => key === "specimen.type");
    Object.assign(type ?? {}, { value: "257261003", coded: [coded("257261003", "snomed.257261003", true)] });
    const read = await render(<ReportContent view={bare} pointer={{ section: null, field: null, line: null }} />, "de");
    const told = read.querySelector('[data-field="specimen.type"] dd');
    expect(told?.textContent).toBe("Abstrich257261003");
    expect(told?.querySelector("[title]")).toBeNull();
  });

  it("keeps the words of the report where a code is not known", async () => {
    const foreign = {
      value: "Virus X",
      valueCoded: coded("Virus X", "snomed.1"),
      interpretation: "Odd",
      interpretationCoded: null,
    };
    expect(await cells(found(foreign), "de")).toEqual(["Virus X", "Odd"]);
  });

  it("says once what value and outcome both say, in any language", async () => {
    const twice = {
      value: "Négatif",
      valueCoded: coded("Négatif", "snomed.260385009"),
      outcome: "negative" as const,
      interpretation: null,
    };
    expect(await cells(found(twice), "de")).toEqual(["", "Negativ"]);
  });

  it("says what the laboratory has said beside the outcome, as that its control has failed", async () => {
    const failed = {
      value: "Positive",
      valueCoded: coded("Positive", "snomed.10828004"),
      outcome: "positive" as const,
      interpretation: "Quality control failure",
      interpretationCoded: coded("Quality control failure", "interpretation.QCF"),
    };
    expect(await cells(found(failed), "de")).toEqual(["", "POSITIV Qualitätskontrolle nicht bestanden"]);
  });

  it("keeps a titre beside the outcome", async () => {
    const titre = { value: "Positive, 1:320", valueCoded: null, outcome: "positive" as const, interpretation: null };
    expect(await cells(found(titre), "de")).toEqual(["Positive, 1:320", "POSITIV"]);
  });

  it("shows what the report calls a code where that may be something else", async () => {
    const other = {
      value: "Negative",
      valueCoded: coded("Negative", "snomed.10828004"),
      outcome: "positive" as const,
      interpretation: null,
    };
    expect(await cells(found(other), "de")).toEqual(["", "POSITIV In der Meldung: Negative"]);
  });
});

describe("a code that is corrected", () => {
  const field = (own: Partial<FormFieldView>): FormFieldView => ({
    expression: "Bundle.entry[4].resource.type.coding[0].code",
    path: "Specimen.type.coding.code",
    value: "119339001",
    line: 1,
    choices: [],
    id: "snomed.119339001",
    display: null,
    messages: [],
    ...own,
  });
  const nothing = () => undefined;
  const edits = { edit: nothing, empty: nothing, leave: nothing, replace: nothing } as unknown as Edits;
  const undoing = { undo: nothing, redo: nothing, canUndo: false, canRedo: false };
  const formOf = (of: FormFieldView) => {
    const found = { messages: [], readable: true, changes: [], changed: 0, vanished: [], privacy: null };
    const view = { ...found, fields: [of], reducible: false };
    return render(
      <Findings view={view} content="" edits={edits} undoing={undoing} onShow={nothing} onFollow={nothing} />,
      "it",
    );
  };

  it("is said in the reader's words beside its field", async () => {
    expect((await formOf(field({}))).textContent).toContain("Feci");
    expect((await formOf(field({ id: "snomed.1" }))).textContent).not.toContain("Feci");
  });

  it("is chosen among codes in the reader's words, and those that are not known in the words of the rules", async () => {
    const choices = [
      { code: "119339001", display: "Stool specimen", id: "snomed.119339001" },
      { code: "1", display: "Odd specimen", id: "snomed.1" },
    ];
    const known = await formOf(field({ choices }));
    expect(known.textContent).toContain("Feci (119339001)");
    expect((await formOf(field({ choices, value: "1" }))).textContent).toContain("Odd specimen (1)");
  });
});
