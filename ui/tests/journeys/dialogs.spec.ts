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

test("a decision about one cause is about the reports that were shown, and no other", async ({ window, core }) => {
  const failed = async (paths: string[]) => {
    const sent = await core.send(paths);
    const ids = sent.submissions.flatMap((id) => (id === null ? [] : [id]));
    await expect.poll(async () => (await core.call("batch", { ids })).moving).toBe(0);
  };
  const files = core.copies("muster-fehler", 3);
  await failed(files.slice(0, 2));
  await window.getByTestId("nav-correct").click();
  await window.getByRole("button", { name: "Do not send 2" }).click();
  const dialog = window.getByRole("dialog");
  await dialog.getByRole("textbox").fill("Sent by telephone");
  // Another one fails for the same cause while the reason is written.
  await failed(files.slice(2));
  await expect(window.getByText("3 reports need correction")).not.toHaveCount(0);
  await expect(dialog).toContainText("Leave these 2 reports unsent?");
  await window.getByTestId("reason-confirm").click();
  await expect(dialog).toHaveCount(0);
  await expect(window.getByText("1 report needs correction").first()).toBeVisible();
});
