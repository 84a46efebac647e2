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
