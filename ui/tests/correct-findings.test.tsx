// @vitest-environment jsdom
// Where the keyboard is when the form of a correction opens: where something can be typed, and on nothing that one Enter
// would set off.

import { expect, it } from "vitest";

import type { DraftView } from "../src/bridge/generated/DraftView";
import type { FormFieldView } from "../src/bridge/generated/FormFieldView";
import { row } from "../src/bridge/mock/reports";
import { Findings } from "../src/parts/correct-findings";
import type { Edits } from "../src/parts/draft";
import { Veiled } from "../src/parts/veil";
import { render } from "./render";

const FAMILY: FormFieldView = {
  path: "Patient.name.family",
  expression: "Bundle.entry[1].resource.name[0].family",
  value: "Muster",
  display: null,
  id: null,
  line: 1,
  choices: [],
  messages: [],
};

async function opened(reveal: boolean): Promise<HTMLElement> {
  const view = { messages: [], fields: [FAMILY], privacy: null, readable: true, reducible: false };
  const nothing = () => undefined;
  const undoing = { undo: nothing, redo: nothing, canUndo: true, canRedo: false };
  return await render(
    <Veiled view={{ row: row(1, 1, 0), birthDate: null }}>
      <Findings
        view={view as unknown as DraftView}
        content=""
        edits={{} as Edits}
        undoing={undoing}
        onShow={nothing}
        onFollow={nothing}
      />
    </Veiled>,
    "en",
    { reveal },
  );
}

it("is in the first value where names are shown", async () => {
  const element = await opened(true);
  expect(document.activeElement).toBe(element.querySelector('[data-testid="form-Patient.name.family"]'));
});

it("is on no button that shows all names with the next Enter", async () => {
  const element = await opened(false);
  expect(element.querySelector('[data-testid="hidden-form-Patient.name.family"]')).not.toBeNull();
  expect(element.contains(document.activeElement)).toBe(false);
});
