// What was removed with one press is there again with one more.

import { laboratory } from "./laboratory";
import { expect, sound, test } from "./window";

test.use({ keychain: false });

test("a deadline that was removed is put back, beside what was entered meanwhile", async ({ window, core }) => {
  await laboratory(core, "Pilot");
  await core.call("use_endpoint", { name: "Pilot" });
  await core.call("set_deadlines", { deadlines: [{ disease: "malaria", hours: 8 }] });
  await window.reload();
  await window.getByTestId("nav-settings").click();
  const row = window.getByTestId("deadline-malaria");
  await row.getByRole("button").last().click();
  await expect(row).toHaveCount(0);
  await expect(window.getByText("The deadline for Malaria is removed")).toBeVisible();
  await sound(window);
  await core.call("set_deadlines", { deadlines: [{ disease: "measles", hours: 2 }] });
  await window.getByTestId("toast-undo").click();
  await expect(row).toBeVisible();
  await expect(window.getByTestId("toast-undo")).toHaveCount(0);
  expect((await core.call("deadlines")).deadlines).toEqual([
    { disease: "malaria", hours: 8 },
    { disease: "measles", hours: 2 },
  ]);
});

test("a list that was put away is there again, with what was chosen meanwhile and without what was left out", async ({
  window,
  core,
}) => {
  await core.drop([core.sample("covid"), core.sample("malaria"), core.sample("salmonellosis-muster-fehler.")]);
  const files = window.getByTestId("candidate-row");
  await expect(files).toHaveCount(3);
  await files
    .filter({ hasText: "malaria" })
    .getByRole("button", { name: /malaria/ })
    .click();
  await expect(files).toHaveCount(2);
  await window.getByTestId("send-clear").click();
  await expect(files).toHaveCount(0);
  await expect(window.getByText("2 entries are off the list. Nothing was sent.")).toBeVisible();
  await core.drop([core.sample("legionellosis")]);
  // The file that was taken off alone has a toast of its own.
  const toast = window.getByRole("alertdialog").filter({ hasText: "2 entries are off the list" });
  await toast.getByTestId("toast-undo").click();
  await expect(files).toHaveCount(3);
  await expect(window.getByTestId("send-button")).toBeEnabled();
});

test("a list that was put away in one room is not put back in another", async ({ window, core }) => {
  await laboratory(core, "Pilot");
  await core.drop([core.sample("covid")]);
  await expect(window.getByTestId("send-button")).toBeEnabled();
  await window.getByTestId("send-clear").click();
  await expect(window.getByTestId("toast-undo")).toBeVisible();
  await core.call("use_endpoint", { name: "Pilot" });
  await expect(window.getByTestId("toast-undo")).toHaveCount(0);
});

test("a view that was removed is kept again as it was", async ({ window, core }) => {
  const view = { name: "Mine", group: null, states: ["failed" as const], search: "", period: "week" as const };
  const kept = { ...view, laboratory: null, about: null, timeliness: null, sort: null, ascending: false };
  await core.call("keep_view", { view: kept });
  await window.getByTestId("nav-reports").click();
  await window.getByTestId("views").click();
  await window.getByRole("menuitem", { name: "Mine" }).click();
  await window.getByTestId("views").click();
  await window.getByRole("menuitem", { name: /Mine/ }).last().click();
  await expect(window.getByText("The view “Mine” is removed")).toBeVisible();
  expect(await core.call("saved_views")).toEqual([]);
  await window.getByTestId("toast-undo").click();
  await expect.poll(() => core.call("saved_views")).toEqual([kept]);
});
