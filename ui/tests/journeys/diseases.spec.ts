// Diseases in words: in lists, in the search, and in the language of the reader.

import { expect, test } from "./window";

test("a disease is found by its name in any language, also where the report has only a code", async ({
  window,
  core,
}) => {
  const bare = core.copies("malaria", 1, (content) =>
    content.replaceAll(/,\s*"display": "[^"]*"/g, "").replaceAll("32700-7", "70568-1"),
  );
  await core.send([...bare, core.sample("legionellosis"), core.sample("covid")]);
  await window.getByTestId("nav-reports").click();
  await expect(window.getByTestId("report-row")).toHaveCount(3);
  await expect(window.getByTestId("report-list")).toContainText("Malaria");
  for (const [word, name] of [
    ["paludisme", "Malaria"],
    ["Legionella", "Legionellosis"],
    ["Legionellose", "Legionellosis"],
  ]) {
    await window.getByRole("searchbox").fill(word ?? "");
    await expect(window.getByTestId("report-row")).toHaveCount(1);
    await expect(window.getByTestId("report-row")).toContainText(name ?? "");
  }
});

test.describe("in German", () => {
  test.use({ language: "de" });
  test("the disease and the test are German, and the result is large", async ({ window, core }) => {
    await core.send([core.sample("gonorrhoea")]);
    await window.getByTestId("nav-reports").click();
    await expect(window.getByTestId("report-row")).toContainText("Gonorrhö");
    await window.getByTestId("report-row").click();
    await expect(window.getByTestId("results")).toContainText("POSITIV");
  });
});

test.describe("in French", () => {
  test.use({ language: "fr" });
  test("organism, specimen and interpretation are French, and the words of the report are at hand", async ({
    window,
    core,
  }) => {
    const measles = core.copies("malaria", 1, (content) =>
      content.replace("30020004", "52584002").replace("Plasmodium falciparum", "Measles virus (organism)"),
    );
    await core.send(measles);
    await window.getByTestId("nav-reports").click();
    await window.getByTestId("report-row").click();
    const detail = window.getByTestId("detail");
    await expect(detail.getByTestId("results")).toContainText("Virus de la rougeole");
    await expect(detail.locator("[data-field='observation.interpretation'] dd")).toHaveText(/^Positif\s*POS$/);
    const specimen = detail.locator("[data-field='specimen.type'] dd");
    await expect(specimen).toHaveText(/^Sang\s*119297000$/);
    await expect(specimen.getByTitle("Dans la déclaration\u00a0: Blood specimen")).toBeVisible();
    for (const own of ["Measles virus", "Blood specimen", "Positive"]) await expect(detail).not.toContainText(own);
    await expect(specimen.locator("[title]")).toHaveCount(1);
  });
});
