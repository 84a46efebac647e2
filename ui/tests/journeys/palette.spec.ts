// Everything by its name: places, actions and reports, with the keyboard alone.

import { expect, sound, test } from "./window";

test("a place, an action and a report are a few letters away", async ({ window, core }) => {
  await core.send([core.sample("covid"), core.sample("malaria")]);
  await expect.poll(async () => (await core.call("status")).counts.completed).toBe(2);

  await window.keyboard.press("Control+k");
  await expect(window.getByTestId("palette")).toBeFocused();
  await sound(window);
  await window.keyboard.type("over");
  await window.keyboard.press("Enter");
  await expect(window.getByTestId("overview-sentence")).toBeVisible();

  await window.keyboard.press("Control+k");
  await window.keyboard.type("pause");
  await window.keyboard.press("Enter");
  await expect.poll(async () => (await core.call("status")).paused).toBe(true);

  // A report by its disease; the arrow keys pass over nothing.
  await window.keyboard.press("Control+k");
  await window.keyboard.type("malaria");
  await expect(window.getByRole("option", { name: /Malaria/ }).first()).toBeVisible();
  await window.keyboard.press("ArrowUp");
  await expect(window.getByRole("option", { name: "Search all reports for “malaria”" })).toHaveAttribute(
    "aria-selected",
    "true",
  );
  await window.keyboard.press("Enter");
  await expect(window.getByTestId("report-row")).toHaveCount(1);
  await window.keyboard.press("Control+k");
  await window.keyboard.type("malaria");
  await expect(window.getByRole("option", { name: /Malaria/ }).first()).toBeVisible();
  await window.keyboard.press("Enter");
  await expect(window.getByTestId("detail-state")).toHaveAttribute("data-state", "completed");

  await window.keyboard.press("Control+k");
  await window.keyboard.type("no such thing");
  await expect(window.getByText("No report matches")).toBeVisible();
  await expect(window.getByRole("option")).toHaveCount(0);
  await window.keyboard.press("Escape");
  await expect(window.getByTestId("palette")).toHaveCount(0);
});

test.describe("in French", () => {
  test.use({ language: "fr" });
  test("accents need not be typed", async ({ window }) => {
    await window.keyboard.press("Control+k");
    await window.keyboard.type("a corriger");
    await window.keyboard.press("Enter");
    await expect(window.getByRole("heading", { name: "À corriger" })).toBeVisible();
    // What the settings have under a name of its own.
    await window.keyboard.press("Control+k");
    await window.keyboard.type("delai");
    await window.keyboard.press("Enter");
    await expect(window.getByRole("heading", { name: "Délais de déclaration" })).toBeInViewport();
  });
});
