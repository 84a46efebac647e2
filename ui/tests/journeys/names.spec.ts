// The patient's name is hidden also where one report stands open and where it is corrected, until somebody asks for it.

import type { Page } from "@playwright/test";

import { expect, sound, test } from "./window";
import type { Core } from "./window";

/** What a person standing behind can read. */
const seen = (page: Page) => page.locator("body").innerText();

test("an open report hides its patient everywhere, and one press shows it", async ({ window, core }) => {
  const { submissions } = await core.send([core.sample("muster-fehler")]);
  const [id = 0] = submissions;
  await expect.poll(async () => (await core.call("detail", { id: id ?? 0 })).row.state).toBe("failed");
  const { row, birthDate } = await core.call("detail", { id: id ?? 0 });
  expect(row.patient).toContain("Muster-Fehler");
  await window.getByTestId("nav-reports").click();
  await window.getByTestId("report-row").click();
  const detail = window.getByTestId("detail");
  await expect(detail).toContainText(`M. `);
  await expect(detail.locator("[data-field='patient.name']")).toHaveText(/M…/);
  for (const tab of ["content", "timeline", "source"]) {
    await detail.getByTestId(`tab-${tab}`).click();
    // What was answered holds the report.
    const folded = detail.locator('ol [aria-expanded="false"]');
    while ((await folded.count()) > 0) await folded.first().click();
    await sound(window);
    expect(await seen(window)).not.toMatch(/\bMuster\b|Fehler/);
    expect(await seen(window)).not.toContain(birthDate ?? "none");
    // The source stands in a tree of its own, which the text of the page does not hold.
    await expect(detail.locator(".cm-content")).toHaveCount(0);
  }
  await expect(detail.getByTestId("names-hidden")).toBeVisible();
  await detail.getByTestId("unveil").click();
  // A long source is drawn where it is looked at.
  await detail.getByRole("textbox", { name: "Source" }).press("Control+f");
  const search = detail.getByRole("textbox", { name: "Find" });
  await search.pressSequentially('"family": "Muster');
  await search.press("Enter");
  await expect(detail.locator(".cm-content")).toContainText('"family": "Muster-Fehler"');
  await window.getByRole("button", { name: "Hide names" }).click();
  await expect(detail).not.toContainText("Muster-Fehler");
  await expect(detail.locator(".cm-content")).toHaveCount(0);
  await detail.getByTestId("show-name").click();
  await expect(detail.getByText(row.patient ?? "nobody").first()).toBeVisible();
});

test("a correction hides the patient, and the press on the value shows it and begins", async ({ window, core }) => {
  const { submissions } = await core.send([core.sample("muster-fehler")]);
  const [id = 0] = submissions;
  await expect.poll(async () => (await core.call("detail", { id: id ?? 0 })).row.state).toBe("failed");
  await window.getByTestId("nav-reports").click();
  await window.getByTestId("report-row").click();
  await window.getByTestId("action-correct").click();
  const dialog = window.getByRole("dialog");
  const hidden = dialog.getByTestId("hidden-form-Patient.name.family");
  await expect(hidden).toBeVisible();
  await expect(dialog.getByTestId("names-hidden")).toBeVisible();
  await expect(dialog.locator(".cm-content")).toBeHidden();
  expect(await seen(window)).not.toMatch(/\bMuster\b|Fehler/);
  await sound(window);
  await hidden.click();
  // The keyboard is in the field: the loop takes no press more than before.
  await expect(dialog.getByTestId("form-Patient.name.family")).toBeFocused();
  await window.keyboard.press("Control+a");
  await window.keyboard.type("Muster");
  await expect(window.getByTestId("correct-summary")).toContainText("1 line changed");
  await window.keyboard.press("Control+Enter");
  await expect.poll(async () => (await core.call("status")).counts.completed).toBe(1);
});

/** A report that the authority has refused for its patient's name, and everything in it that tells who that is. */
async function refused(core: Core) {
  const { submissions } = await core.send([core.sample("muster-fehler")]);
  const id = submissions[0] ?? 0;
  await expect.poll(async () => (await core.call("detail", { id })).row.state).toBe("failed");
  const view = await core.call("detail", { id });
  // The authority quotes the family name in its own words.
  expect(view.messages.map(({ text }) => text).join(" ")).toContain("Muster-Fehler");
  const telling = ["Muster", "Fehler", view.birthDate, view.row.file].filter((word) => word !== null);
  return { view, telling };
}

for (const shown of [false, true]) {
  const names = shown ? "shown" : "hidden";
  test(`what is copied for the authority’s support names nobody, also where names are ${names}`, async ({
    window,
    core,
    context,
  }) => {
    await context.grantPermissions(["clipboard-read", "clipboard-write"]);
    const { view, telling } = await refused(core);
    if (shown) await window.getByTestId("reveal-names").click();
    await window.getByTestId("nav-reports").click();
    await window.getByTestId("report-row").click();
    await window.getByTestId("tab-timeline").click();
    await window.getByTestId("copy-for-support").click();
    const copied = () => window.evaluate(() => navigator.clipboard.readText());
    // By what stands in it the support finds the report.
    for (const fact of [view.identifier, view.digest, "Failed", "HTTP "]) await expect.poll(copied).toContain(fact);
    for (const word of telling) expect(await copied()).not.toContain(word);
  });
}

test("the support bundle stands there to be read before it is saved, and names nobody", async ({ window, core }) => {
  const { telling } = await refused(core);
  await window.getByTestId("nav-settings").click();
  await window.getByTestId("support").click();
  const dialog = window.getByRole("dialog");
  await expect(dialog.getByTestId("support-file").first()).toContainText("summary.txt");
  for (const word of telling) await expect(dialog).not.toContainText(word);
  await expect(dialog.getByTestId("support-save")).toBeEnabled();
  await sound(window);
});
