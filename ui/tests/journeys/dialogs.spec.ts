// What somebody has entered is not lost by a slip of the hand.

import { expect, test } from "./window";

test("a dialog with something entered closes only when that is meant", async ({ window }) => {
  await window.getByTestId("nav-settings").click();
  await window.getByRole("button", { name: "Add an authority" }).click();
  const dialog = window.getByRole("dialog");
  await dialog.getByRole("textbox", { name: "Name" }).fill("Kanton");
  // Beside the dialog: the focus stays where it is, and so does the next key.
  const left = await window.evaluateHandle(() => {
    const fields: EventTarget[] = [];
    document.addEventListener("focusout", ({ target }) => target && fields.push(target));
    return fields;
  });
  await window.mouse.click(5, 400);
  expect(await left.evaluate((fields) => fields.length)).toBe(0);
  await expect(dialog.getByRole("textbox", { name: "Name" })).toHaveValue("Kanton");
  await window.keyboard.press("Escape");
  await expect(dialog).toContainText("Discard what you have entered?");
  await window.keyboard.press("Enter");
  await expect(dialog.getByRole("textbox", { name: "Name" })).toHaveValue("Kanton");
  await dialog.getByRole("button", { name: "Close" }).click();
  await dialog.getByRole("button", { name: "Discard" }).click();
  await expect(dialog).toHaveCount(0);
});

test("a dialog in which nothing was entered closes at once", async ({ window }) => {
  await window.getByTestId("nav-settings").click();
  await window.getByRole("button", { name: "Add an authority" }).click();
  await window.keyboard.press("Escape");
  await expect(window.getByRole("dialog")).toHaveCount(0);
});
