// The window locks itself, and nothing with a name is left behind the lock; a passphrase may open it.

import { readFileSync } from "node:fs";

import type { Page } from "@playwright/test";

import { expect, test } from "./window";

/** Whether a text stands anywhere on the page, or in its title. */
const anywhere = (page: Page, words: string) =>
  page.evaluate((text) => document.documentElement.outerHTML.includes(text) || document.title.includes(text), words);

test("after ten idle minutes the window is locked, and no name is left anywhere", async ({ page, core }) => {
  const name = "Hintermeister";
  const sample = core.write(
    "report.json",
    readFileSync(core.sample("covid"), "utf8").replaceAll(/"family": ?"[^"]*"/g, `"family": "${name}"`),
  );
  await core.send([sample]);
  await page.clock.install();
  await page.goto(core.address);
  await page.getByTestId("nav-reports").click();
  const row = page.getByTestId("report-row");
  await expect(row).toHaveCount(1);
  expect(await anywhere(page, name), "names are masked until they are asked for").toBe(false);
  await page.getByRole("button", { name: "Show names" }).click();
  await expect(row).toContainText(name);
  await page.clock.fastForward("09:50");
  await page.mouse.move(300, 300);
  await page.mouse.move(310, 310);
  await page.clock.fastForward("09:50");
  await expect(page.getByTestId("locked"), "somebody is there").toHaveCount(0);
  await page.clock.fastForward("00:20");
  await expect(page.getByTestId("locked")).toBeVisible();
  expect(await anywhere(page, name), "nothing of a name is left in the page").toBe(false);
  await expect(row, "no row is left in the page").toHaveCount(0);
  await expect.poll(async () => (await core.call("status")).locked, "the core gives no names either").toBe(true);
  // Files dropped on it are not taken.
  await core.drop([sample]);
  await expect(page.getByTestId("unlock"), "the keyboard is at the button").toBeFocused();
  await page.keyboard.press("Enter");
  await expect(row).toHaveCount(1);
  expect(await anywhere(page, name), "masked again after the lock").toBe(false);
  await page.getByTestId("nav-send").click();
  await expect(page.getByTestId("candidate-row"), "nothing was taken while it was locked").toHaveCount(0);
});

test("a passphrase is chosen, asked for, and told from a wrong one by keyboard alone", async ({ window, core }) => {
  await window.getByTestId("nav-settings").click();
  await window.getByTestId("choose-passphrase").click();
  const keep = window.getByTestId("passphrase-keep");
  await expect(keep, "nothing typed").toBeDisabled();
  await window.keyboard.type("open sesame");
  // Past the button that shows what was typed.
  await window.keyboard.press("Tab");
  await window.keyboard.press("Tab");
  await window.keyboard.type("open sesam");
  await expect(keep, "not the same twice").toBeDisabled();
  await window.keyboard.type("e");
  await keep.click();
  await expect(window.getByText("Asked for whenever")).toBeVisible();
  await window.locator("body").click({ position: { x: 640, y: 5 } });
  await window.keyboard.press("g");
  await window.keyboard.press("l");
  const asked = window.getByTestId("unlock-passphrase");
  await expect(asked).toBeFocused();
  await window.keyboard.type("wrong");
  await window.keyboard.press("Enter");
  await expect(window.getByText("That is not the passphrase")).toBeVisible();
  await expect(asked, "not kept").toHaveValue("");
  expect((await core.call("status")).locked).toBe(true);
  await asked.focus();
  await window.keyboard.type("open sesame");
  await window.keyboard.press("Enter");
  await expect(window.getByTestId("nav-settings")).toBeVisible();
  expect((await core.call("status")).locked).toBe(false);
});
