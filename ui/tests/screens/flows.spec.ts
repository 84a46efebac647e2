// What needs layout, a keyboard and a clock: flows through screens with made-up data.

import type { Page } from "@playwright/test";

import { by, detail } from "./screens";
import { SIZES, dropped, expect, sound, test } from "./window";

/** Environments, and the word that each says of itself. */
const BARS: [string, string | null][] = [
  ["practice", "Practice"],
  ["integration", "Integration"],
  ["production", null],
];

test("practice and integration say so in words, production has no bar", async ({ open }) => {
  for (const [environment, word] of BARS) {
    const page = await open({ environment });
    await sound(page, environment);
    const bar = by(page, "environment-bar");
    await expect(bar, environment).toHaveCount(word === null ? 0 : 1);
    if (word !== null) await expect(bar, environment).toContainText(word);
    const title = word === null ? "Lab Courier" : `Lab Courier – ${word}`;
    await expect(page).toHaveTitle(title);
  }
});

test("a pause is said on every screen and ended there", async ({ open }) => {
  const page = await open();
  await by(page, "nav-settings").click();
  await page.getByRole("switch", { name: "Pause sending" }).press("Space");
  await by(page, "nav-reports").click();
  await page.getByRole("button", { name: "Go on" }).waitFor();
  await sound(page, "paused");
  await page.getByRole("button", { name: "Go on" }).click();
  await page.getByRole("button", { name: "Go on" }).waitFor({ state: "detached" });
});

test("leaving practice for production needs the word", async ({ open }) => {
  const page = await open();
  await by(page, "nav-settings").click();
  const production = page.getByRole("listitem").filter({ hasText: "https://elm.example.org" });
  await production.getByRole("button", { name: "Use", exact: true }).click();
  const go = page.getByRole("button", { name: "Switch", exact: true });
  await expect(go, "without the word it cannot be confirmed").toBeDisabled();
  await page.getByRole("textbox").fill("production");
  await go.click();
  await by(page, "environment-bar").waitFor({ state: "detached" });
});

test("leaving practice for a test system needs its word", async ({ open }) => {
  const page = await open();
  await by(page, "nav-settings").click();
  const integration = page.getByRole("listitem").filter({ hasText: "https://elm-abn.example.org" });
  await integration.getByRole("button", { name: "Use", exact: true }).click();
  await expect(by(page, "production-confirm"), "without the word it cannot be confirmed").toBeDisabled();
  await sound(page, "leaving practice");
  await by(page, "production-word").fill("integration");
  await page.keyboard.press("Enter");
  await expect(by(page, "environment-bar")).toContainText("Integration");
});

test("a report is withdrawn and released with a reason only", async ({ open }) => {
  const page = await open();
  await detail(page, "held");
  await by(page, "action-release").click();
  await expect(by(page, "reason-confirm"), "without a reason it cannot be confirmed").toBeDisabled();
  await sound(page, "reason");
  await by(page, "reason").fill("Checked with the physician");
  await by(page, "reason-confirm").click();
  await page.locator('[data-testid="detail-state"]:not([data-state="held"])').waitFor();
});

test("pasted text is a row of the list, then sent", async ({ open }) => {
  const page = await open({ rows: "0" });
  await by(page, "paste-text").click();
  await sound(page, "paste");
  await page.getByRole("textbox").last().fill('{"resourceType": "Bundle"}');
  await page.getByRole("button", { name: "Add to the list" }).click();
  await by(page, "send-button").click();
  await by(page, "undo").waitFor();
});

test("copying works", async ({ open }) => {
  const page = await open();
  await by(page, "nav-certificate").click();
  await page.getByRole("button", { name: /^Copy: Serial/ }).click();
  await page.getByText("Copied").first().waitFor({ state: "attached" });
});

test("dropped files are looked at, sent, and taken back", async ({ open }) => {
  const page = await open();
  await by(page, "nav-settings").click();
  await dropped(page, "/a/one.json", "/a/birth-error.json");
  await by(page, "candidate-row").nth(1).waitFor();
  await expect(by(page, "send-button")).toHaveText("Send 2 reports (1 needs correction)");
  await page.keyboard.press("Control+Enter");
  await by(page, "undo").waitFor();
  await page.keyboard.press("Control+z");
  await page.getByText("on hold: nothing was sent").waitFor();
});

/** A button can be pressed at its middle and at three corners, while something is said. */
async function free(page: Page, id: string) {
  await page.getByRole("alertdialog").first().waitFor();
  const reached = await by(page, id).evaluate(async (button) => {
    // Two frames: what has just changed is measured and drawn.
    await new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)));
    const { left, right, top, bottom } = button.getBoundingClientRect();
    const at = (x: number, y: number) => button.contains(document.elementFromPoint(x, y));
    return [
      at(left + 2, top + 2),
      at(right - 2, top + 2),
      at((left + right) / 2, (top + bottom) / 2),
      at(right - 2, bottom - 2),
    ];
  });
  expect(reached, `${id} is covered`).toEqual([true, true, true, true]);
}

test("what the window says in its corner covers no button that decides", async ({ open }) => {
  const page = await open({}, SIZES.small);
  // Three messages that stay, over the bar of what was just sent and the next list above it.
  await dropped(page, "/a/one.json");
  await by(page, "send-button").click();
  await by(page, "undo").waitFor();
  await dropped(page, "/a/two.json", "/a/birth-error.json");
  await page.keyboard.press("?");
  for (let at = 0; at < 3; at += 1) await dropped(page, "/a/one.json");
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await free(page, "send-button");
  await free(page, "undo");
  await by(page, "send-button").click();
});

test("what the window says covers no button of a dialog, whose bar grows with what it says", async ({ open }) => {
  const page = await open({ names: "1" }, SIZES.small);
  await detail(page, "failed");
  await by(page, "action-correct").click();
  await by(page, "correct-text").waitFor();
  for (let at = 0; at < 3; at += 1) await dropped(page, "/a/one.json", "/a/two.json");
  await by(page, "correct-text").fill("{}");
  await by(page, "correct-summary").waitFor();
  await free(page, "correct-send");
});

test("a file dropped on a failed report corrects it", async ({ open }) => {
  const page = await open();
  await detail(page, "failed");
  await dropped(page, "/a/corrected.json");
  await by(page, "drop-as-correction").click();
  await by(page, "drop-correct").click();
  await by(page, "predecessor").waitFor();
  await page.locator('[data-testid="detail-state"][data-state="completed"]').waitFor();
  await by(page, "predecessor").click();
  await page.locator('[data-testid="detail-state"][data-state="superseded"]').waitFor();
});

test("the first run teaches the loop: send, fail, correct, complete", async ({ open }) => {
  const page = await open({ first: "1", rows: "0" });
  await by(page, "send-samples").click();
  await by(page, "reveal-names").click();
  await by(page, "candidate-row").nth(2).waitFor();
  await by(page, "send-button").click();
  await by(page, "nav-reports").click();
  await page.locator('[data-testid="report-row"][data-state="failed"]').click();
  await by(page, "message").first().waitFor();
  await by(page, "action-correct").click();
  await by(page, "correct-text").fill("{}");
  await by(page, "correct-send").click();
  await page.locator('[data-testid="detail-state"][data-state="completed"]').waitFor();
});

test("the list by keyboard alone", async ({ open }) => {
  const page = await open();
  await by(page, "nav-reports").click();
  await page.keyboard.press("3");
  await page.keyboard.press("1");
  await by(page, "report-row").first().waitFor();
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  await page.keyboard.press("Enter");
  await page.locator('[data-testid="detail-state"][data-state="failed"]').waitFor();
  await page.keyboard.press("r");
  await by(page, "predecessor").waitFor();
  await page.keyboard.press("Escape");
  await by(page, "detail").waitFor({ state: "detached" });
  await page.keyboard.press("/");
  await page.keyboard.type("legionella");
  await page.locator('[data-testid="report-row"]:has-text("Influenza")').first().waitFor({ state: "detached" });
});

test("a message leads to its place in the report", async ({ open }) => {
  const page = await open();
  await detail(page, "failed");
  await by(page, "tab-timeline").click();
  await by(page, "message").first().getByRole("button").click();
  await page.locator('[data-section="Observation"] [data-field="observation.code"]').waitFor();
});

test("a wrong password says so, the right one shows the certificate before it is stored", async ({ open }) => {
  const page = await open();
  await by(page, "nav-certificate").click();
  await by(page, "certificate-import").click();
  await by(page, "certificate-password").fill("wrong");
  await page.keyboard.press("Enter");
  await page.getByText("The password is wrong").waitFor();
  await by(page, "certificate-password").fill("right");
  await page.keyboard.press("Enter");
  await page.getByText("Issuing CA of the Authority").waitFor();
  await by(page, "certificate-confirm").click();
  await by(page, "certificate-stored").getByText("Keychain of this computer").waitFor();
});

test("after ten idle minutes the window is locked, and no name is left anywhere", async ({ open }) => {
  const page = await open({ clock: "1" });
  const anywhere = (name: string) =>
    page.evaluate((text) => document.documentElement.outerHTML.includes(text) || document.title.includes(text), name);
  await by(page, "nav-reports").click();
  await by(page, "report-row").first().waitFor();
  expect(await anywhere("Brunner, Lea"), "names are masked until they are asked for").toBe(false);
  await page.getByRole("button", { name: "Show names" }).click();
  await page.getByText("Brunner, Lea").first().waitFor();
  await page.clock.fastForward("09:50");
  await page.mouse.move(300, 300);
  await page.mouse.move(310, 310);
  await page.clock.fastForward("09:50");
  await expect(by(page, "locked"), "somebody is there").toHaveCount(0);
  await page.clock.fastForward("00:20");
  await by(page, "locked").waitFor();
  expect(await anywhere("Brunner, Lea"), "nothing of a name is left in the page").toBe(false);
  await expect(by(page, "report-row"), "no row is left in the page").toHaveCount(0);
  // Files dropped on it are not taken.
  await dropped(page, "/a/one.json");
  await expect(by(page, "unlock"), "the keyboard is at the button").toBeFocused();
  await page.keyboard.press("Enter");
  await by(page, "report-row").first().waitFor();
  expect(await anywhere("Brunner, Lea"), "masked again after the lock").toBe(false);
  await expect(by(page, "candidate-row"), "nothing was taken while it was locked").toHaveCount(0);
});

test("a passphrase is chosen, asked for, and told from a wrong one by keyboard alone", async ({ open }) => {
  const page = await open();
  await by(page, "nav-settings").click();
  await by(page, "choose-passphrase").click();
  await expect(by(page, "passphrase-keep"), "nothing typed").toBeDisabled();
  await page.keyboard.type("open sesame");
  // Past the button that shows what was typed.
  await page.keyboard.press("Tab");
  await page.keyboard.press("Tab");
  await page.keyboard.type("open sesam");
  await expect(by(page, "passphrase-keep"), "not the same twice").toBeDisabled();
  await page.keyboard.type("e");
  await by(page, "passphrase-keep").click();
  await page.getByText("Asked for whenever").waitFor();
  await page.locator("body").click({ position: { x: 640, y: 5 } });
  await page.keyboard.press("g");
  await page.keyboard.press("l");
  await by(page, "unlock-passphrase").waitFor();
  await page.keyboard.type("wrong");
  await page.keyboard.press("Enter");
  await page.getByText("That is not the passphrase").waitFor();
  await expect(by(page, "unlock-passphrase"), "not kept").toHaveValue("");
  await by(page, "unlock-passphrase").focus();
  await page.keyboard.type("open sesame");
  await page.keyboard.press("Enter");
  await by(page, "nav-settings").waitFor();
});

test("10,000 rows are drawn few at a time, to the end", async ({ open }) => {
  const page = await open({ rows: "10000" });
  await by(page, "nav-reports").click();
  await by(page, "report-row").first().waitFor();
  const grid = by(page, "report-list");
  let top = 0;
  for (let at = 0; at < 8; at += 1) {
    const before = await grid.evaluate((element) => element.scrollHeight);
    await grid.evaluate((element) => element.scrollTo(0, element.scrollHeight));
    await page.waitForFunction(
      (height) => (document.querySelector('[data-testid="report-list"]')?.scrollHeight ?? 0) > height,
      before,
    );
    expect(await by(page, "report-row").count(), "rows that are drawn").toBeLessThan(60);
    const now = await grid.evaluate((element) => element.scrollTop);
    expect(now, "the list moved back").toBeGreaterThan(top);
    top = now;
  }
});
