// The authority's rules in the window: a report with twelve mistakes is corrected with suggestions and edits alone.

import { readFileSync } from "node:fs";
import { join } from "node:path";

import { expect, replaceAll, sound, test } from "./window";
import { spoiled, teachingPackage, testsPackage } from "./teaching";

// What is read and typed here names patients.
test.use({ showsNames: true });

test("a report with twelve mistakes is walked to clean, and is sent", async ({ window, core }) => {
  // Twelve steps with a check after each: on a machine that does other things as well this takes its time.
  test.slow();
  await core.useRules(core.write("rules.json", teachingPackage()));
  const sample = readFileSync(core.sample("muster-fehler"), "utf8");
  const day = /"collectedDateTime": "([^"]*)"/.exec(sample)?.[1] ?? "";
  const file = core.write("twelve.json", spoiled(sample));
  const sent = await core.send([file]);
  const [id] = sent.submissions;
  const held = await core.call("detail", { id: id ?? 0 });
  const errors = held.messages.filter((message) => message.severity === "error");
  expect(errors.map((message) => `${message.code} ${message.expression}`)).toHaveLength(12);
  expect(held.row.state).toBe("held");

  // In the report to read: our sentence, the rule's own words, and the cure; each in its section.
  await window.getByTestId("nav-correct").click();
  await window.getByTestId("report-row").first().click();
  const detail = window.getByTestId("detail");
  const date = detail
    .locator("[data-code=rule-invariant]", { hasText: "The date needs at least year, month and day" })
    .first();
  await expect(date).toContainText("At least the format YYYY-MM-DD is required.");
  await expect(date).toContainText(`Found:${day.slice(0, 7)}`);
  await expect(detail.locator("[data-section=Patient] [data-code=rule-code-not-in-value-set]")).toHaveCount(2);
  await sound(window);

  // One press opens the correction with the country put in.
  await detail
    .locator("[data-testid=suggestion]", { hasText: "Schweiz" })
    .first()
    .getByTestId("apply-suggestion")
    .click();
  const dialog = window.getByRole("dialog");
  const sum = dialog.getByTestId("findings-sum");
  const source = dialog.getByRole("textbox", { name: "Source" });
  await expect(sum).toHaveAttribute("data-errors", "11");
  await expect(window.getByTestId("correct-summary")).toContainText('"country": "CH"');
  await dialog.getByTestId("undo-edit").click();
  await expect(sum).toHaveAttribute("data-errors", "12");
  await dialog.getByTestId("redo-edit").click();
  await expect(sum).toHaveAttribute("data-errors", "11");

  // The next one at its value in the form; Ctrl+Z takes it back.
  const canton = dialog.locator("[data-field='Patient.address.state']");
  await expect(canton.getByTestId("beside")).toContainText("Canton");
  await canton.getByTestId("apply-suggestion").click();
  await expect(sum).toHaveAttribute("data-errors", "10");
  await expect(canton.getByTestId("beside")).toHaveCount(0);
  await window.keyboard.press("Control+z");
  await expect(sum).toHaveAttribute("data-errors", "11");
  // What may stand there is chosen by its name.
  const state = canton.getByTestId("form-Patient.address.state");
  await expect(state).toHaveText("Bern (stands there now)");
  await state.click();
  await expect(window.getByRole("option")).toHaveText([
    "Bern (stands there now)",
    "Bern (BE)",
    "Genève (GE)",
    "Zürich (ZH)",
  ]);
  await window.getByRole("option", { name: "Zürich (ZH)" }).click();
  await expect(sum).toHaveAttribute("data-errors", "10");
  await expect(state).toHaveText("Zürich (ZH)");
  await window.keyboard.press("Control+z");
  await expect(sum).toHaveAttribute("data-errors", "11");

  // The other mechanical ones at once, after a look at what would change.
  await dialog.getByTestId("all-suggestions").click();
  const preview = dialog.getByTestId("suggestions-preview");
  await expect(preview).toContainText('"state": "Bern"');
  await expect(preview).toContainText('"state": "BE"');
  await expect(preview).toContainText("7560000000066");
  await expect(sum).toHaveAttribute("data-errors", "11");
  await sound(window);
  await dialog.getByTestId("apply-all").click();
  await expect(sum).toHaveAttribute("data-errors", "6");
  await expect(dialog.getByTestId("all-suggestions")).toHaveCount(0);

  // What a person has to know: four values of the form.
  const sex = dialog.locator("[data-field='Patient.gender']");
  await sex.getByRole("button").first().click();
  await window.getByRole("option", { name: "Male", exact: true }).click();
  await expect(sum).toHaveAttribute("data-errors", "5");
  for (const [path, value, left] of [
    ["Specimen.collection.collectedDateTime", day, 4],
    ["Patient.address.city", "Musterhausen", 3],
    ["ServiceRequest.intent", "order", 2],
    // What is missing has a field, too.
    ["Organization.name", "Praxis Beispiel", 1],
  ] as const) {
    await dialog.getByTestId(`form-${path}`).fill(value);
    await expect(sum).toHaveAttribute("data-errors", String(left));
  }

  // And one in the source: what may not be there.
  const text = () => core.call("draft", { id: id ?? 0 });
  await expect.poll(text).toContain('\n        "name": "Praxis Beispiel",\n');
  const before = (await text()) ?? "";
  await replaceAll(source, before.replace(/\n *"note": .*/, ""));
  await expect(sum).toHaveAttribute("data-errors", "0");
  await expect(window.getByTestId("correct-summary")).toContainText("The check on this computer found nothing wrong");
  await dialog.getByTestId("correct-send").click();
  await expect(window.getByTestId("outcome")).toHaveText("The report is completed");
  await expect
    .poll(async () => (await core.call("status")).counts)
    .toMatchObject({ needsAttention: 0, completed: 1, closed: 1 });
});

test("what is put in while the source is still loading can be taken back", async ({ window, core }) => {
  await core.useRules(core.write("rules.json", teachingPackage()));
  await core.send([core.write("twelve.json", spoiled(readFileSync(core.sample("muster-fehler"), "utf8")))]);
  let load = (): void => undefined;
  const asked = new Promise<void>((resolve) => {
    load = resolve;
  });
  await window.route(/\/assets\/source-editor-[^/]*\.js$/, async (route) => {
    await asked;
    await route.continue();
  });
  await window.getByTestId("nav-correct").click();
  await window.getByTestId("report-row").first().click();
  await window
    .getByTestId("detail")
    .locator("[data-testid=suggestion]", { hasText: "Schweiz" })
    .first()
    .getByTestId("apply-suggestion")
    .click();
  const dialog = window.getByRole("dialog");
  const sum = dialog.getByTestId("findings-sum");
  await expect(sum).toHaveAttribute("data-errors", "11");
  await expect(dialog.getByTestId("correct-text")).toHaveCount(0);
  load();
  await dialog.getByTestId("undo-edit").click();
  await expect(sum).toHaveAttribute("data-errors", "12");
  await dialog.getByTestId("redo-edit").click();
  await expect(sum).toHaveAttribute("data-errors", "11");
});

test("a mark in the source says what is wrong, and its button puts the cure in", async ({ window, core }) => {
  await core.useRules(core.write("rules.json", teachingPackage()));
  const file = core.write("twelve.json", spoiled(readFileSync(core.sample("muster-fehler"), "utf8")));
  await core.send([file]);
  await window.getByTestId("nav-correct").click();
  await window.getByTestId("report-row").first().click();
  await window.getByTestId("action-correct").click();
  const dialog = window.getByRole("dialog");
  const sum = dialog.getByTestId("findings-sum");
  await expect(sum).toHaveAttribute("data-errors", "12");
  await dialog.getByTestId("form-Patient.address.country").focus();
  const mark = dialog.locator(".cm-lintRange-error", { hasText: "Schweiz" });
  // The value alone is marked, not its whole line.
  await expect(mark).toHaveText('"Schweiz"');
  await mark.hover();
  const note = dialog.locator(".cm-tooltip-lint");
  await expect(note).toContainText("not an allowed code of Country");
  await note.getByRole("button", { name: "Put in: CH" }).click();
  await expect(sum).toHaveAttribute("data-errors", "11");
  await expect(dialog.getByTestId("form-Patient.address.country")).toHaveText("Schweiz (CH)");
});

test("the name beside a code follows the code that is chosen, and goes where the rules have none", async ({
  window,
  core,
}) => {
  await core.useRules(core.write("rules.json", testsPackage({ "8-8": "Salmonella by culture", "9-9": "" })));
  const sent = await core.send([core.write("one.json", readFileSync(core.sample("muster-fehler"), "utf8"))]);
  const id = sent.submissions[0] ?? 0;
  await window.getByTestId("nav-correct").click();
  await window.getByTestId("report-row").first().click();
  await window.getByTestId("action-correct").click();
  const dialog = window.getByRole("dialog");
  const code = dialog.getByTestId("form-Observation.code.coding.code").first();
  const draft = () => core.call("draft", { id });
  await code.click();
  await expect(window.getByRole("option")).toHaveText([
    "20955-1 (stands there now)",
    "9-9",
    "Salmonella by culture (8-8)",
  ]);
  await window.getByRole("option", { name: "Salmonella by culture (8-8)" }).click();
  await expect.poll(draft).toMatch(/"code": "8-8",\s*"display": "Salmonella by culture"/);
  await code.click();
  await window.getByRole("option", { name: "9-9", exact: true }).click();
  // The name of the other code does not stand beside this one.
  await expect.poll(draft).toMatch(/"code": "9-9"\s*\}/);
});

for (const [language, sentence] of [
  ["de", "Das Datum braucht mindestens Jahr, Monat und Tag."],
  ["fr", "La date doit comporter au moins l’année, le mois et le jour."],
  ["it", "La data deve comprendere almeno anno, mese e giorno."],
] as const) {
  test.describe(`in ${language}`, () => {
    test.use({ language });
    test("a rule of the package is a sentence, with its own words beside it", async ({ window, core }) => {
      await core.useRules(core.write("rules.json", teachingPackage()));
      const file = core.write("twelve.json", spoiled(readFileSync(core.sample("muster-fehler"), "utf8")));
      await core.send([file]);
      await window.getByTestId("nav-correct").click();
      await window.getByTestId("report-row").first().click();
      const said = window.getByTestId("detail").getByTestId("message").filter({ hasText: sentence }).first();
      await expect(said).toContainText("At least the format YYYY-MM-DD is required.");
      await sound(window);
    });
  });
}

test("what the authority may see stands beside what the report says of the patient, and one press makes it so", async ({
  window,
  core,
}) => {
  // The rules of practice permit only initials for syphilis.
  const report = readFileSync(join(core.folder, "home/practice/lessons/syphilis-full-name.json"), "utf8");
  const sent = await core.send([{ name: "syphilis.json", text: report }]);
  const [id] = sent.submissions;
  await expect.poll(async () => (await core.call("detail", { id: id ?? 0 })).row.state).toBe("held");
  await window.getByTestId("nav-correct").click();
  await window.getByTestId("report-row").first().click();
  const shown = window.getByTestId("detail").getByTestId("privacy");
  await expect(shown).toHaveAttribute("data-stops", "true");
  await expect(shown).toContainText("only the initials are permitted");
  await expect(shown.locator("[data-field='patient.name'] del")).toContainText("Lehmann-Muster");
  await expect(shown.locator("[data-field='patient.telecom']")).toContainText("nothing");
  await sound(window);

  await window.getByTestId("action-correct").click();
  const dialog = window.getByRole("dialog");
  const sum = dialog.getByTestId("findings-sum");
  await expect(sum).not.toHaveAttribute("data-errors", "0");
  await dialog.getByTestId("reduce-patient").click();
  await expect(dialog.getByTestId("privacy")).toHaveAttribute("data-stops", "false");
  await expect(dialog.getByTestId("privacy").locator("del")).toHaveCount(0);
  await expect(dialog.getByRole("textbox", { name: "Source" })).not.toContainText("Lehmann");
  await dialog.getByTestId("undo-edit").click();
  await expect(dialog.getByTestId("privacy")).toHaveAttribute("data-stops", "true");
  await dialog.getByTestId("redo-edit").click();
  await expect(dialog.getByTestId("privacy")).toHaveAttribute("data-stops", "false");

  // What else there was to cure in the patient went with it, and the report may leave.
  await expect(dialog.getByTestId("all-suggestions")).toHaveCount(0);
  await expect(sum).toHaveAttribute("data-errors", "0");
  await dialog.getByTestId("correct-send").click();
  await expect(window.getByTestId("outcome")).toHaveText("The report is completed");
});

for (const language of ["en", "de", "fr", "it"]) {
  test.describe(`in ${language}`, () => {
    test.use({ language });
    test("no word of what the authority may see is broken, and what says too much is named", async ({
      window,
      core,
    }) => {
      const report = readFileSync(join(core.folder, "home/practice/lessons/syphilis-full-name.json"), "utf8");
      await core.send([{ name: "syphilis.json", text: report }]);
      await window.getByTestId("nav-correct").click();
      await window.getByTestId("report-row").first().click();
      const detail = window.getByTestId("detail");
      const names = detail.getByTestId("privacy").locator("tbody th");
      await expect(names).toHaveCount(6);
      // A name may stand on as many lines as it has words.
      const broken = await names.evaluateAll(
        (all) =>
          all.filter((one) => {
            const range = document.createRange();
            range.selectNodeContents(one);
            const lines = new Set([...range.getClientRects()].map(({ top }) => top)).size;
            return lines > (one.textContent ?? "").split(" ").length;
          }).length,
      );
      expect(broken).toBe(0);
      // Two parts of the name, telephone and street are findings of their own, each in words of its own.
      const said = detail.locator("[data-code^=rule-privacy]");
      const sentences = await said.evaluateAll((all) => all.map((one) => one.querySelector("p")?.textContent ?? ""));
      expect(new Set(sentences).size).toBe(4);
    });
  });
}
