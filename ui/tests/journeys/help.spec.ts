// Help for the screen that is open, in the reader's language, without a network.

import { expect, sound, test } from "./window";

test("the question mark and the rail open the help of the screen, and lead to that of the others", async ({
  window,
}) => {
  await window.getByTestId("nav-reports").click();
  await window.keyboard.press("?");
  const page = window.getByTestId("help-page");
  await expect(page.getByRole("heading", { name: "Reports" })).toBeVisible();
  await expect(page).toContainText("an answer was lost: the authority is asked before anything is sent again");
  await expect(window.getByRole("dialog")).toContainText("Next and previous report");
  await sound(window);
  await window.getByTestId("help-certificate").click();
  await expect(page).toContainText("test the connection");
  await window.keyboard.press("Escape");
  await expect(window.getByRole("dialog")).toHaveCount(0);
  await window.getByTestId("nav-correct").click();
  await window.getByTestId("help").click();
  await expect(page).toContainText("grouped by cause");
});

for (const [language, word] of [
  ["de", "nach Ursachen geordnet"],
  ["fr", "classé par cause"],
  ["it", "ordinato per causa"],
] as const) {
  test.describe(`in ${language}`, () => {
    test.use({ language });
    test("the help is in the reader's language", async ({ window }) => {
      await window.getByTestId("nav-correct").click();
      await window.keyboard.press("?");
      await expect(window.getByTestId("help-page")).toContainText(word);
      await sound(window);
    });
  });
}
