// The window with made-up data in a real browser: axe on every screen in every language and theme, the
// content security policy of the product, and the journeys that need layout and a keyboard.
// CHROMIUM names the browser; the default is Debian's.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

import { chromium } from "playwright-core";
import { preview } from "vite";

import { SCREENS, by, detail } from "./screens.mjs";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-software-rasterizer", "--disable-dev-shm-usage", "--disable-background-networking"];
const SIZES = { wide: { width: 1280, height: 800 }, small: { width: 1000, height: 700 } };

const server = await preview({ mode: "mock", build: { outDir: "dist-mock" }, preview: { port: 0, host: "127.0.0.1" } });
const address = server.resolvedUrls.local[0];
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ARGUMENTS });
let failed = 0;

function assert(held, what) {
  if (!held) throw new Error(what);
}

/**
 * A context for all pages: what was fetched and compiled for one is there for the next. The page keeps nothing there
 * itself. Who moves the clock moves that of the context, and has one alone.
 */
const shared = await browser.newContext({ bypassCSP: false });

async function open(query = {}, size = SIZES.wide) {
  const page = query.clock ? await browser.newPage({ bypassCSP: false }) : await shared.newPage();
  await page.setViewportSize(size);
  page.setDefaultTimeout(60_000);
  page.noise = [];
  page.on("pageerror", (error) => page.noise.push(error.message));
  page.on("console", (line) => ["error", "warning"].includes(line.type()) && page.noise.push(line.text()));
  // As the product does (`freezePrototype`).
  await page.addInitScript(() => Object.freeze(Object.prototype));
  if (query.clock) await page.clock.install();
  await page.goto(`${address}?${new URLSearchParams({ language: "en", theme: "light", ...query })}`);
  await page.locator("main").waitFor();
  if (query.names) await by(page, "reveal-names").click();
  return page;
}

const only = process.argv[2];
/** Pages at a time: a browser and its driver each keep a core busy. */
const SIDE_BY_SIDE = 2;
const waiting = [];

function test(name, body) {
  if (only === undefined || name.includes(only)) waiting.push([name, body]);
}

async function work() {
  for (let next = waiting.shift(); next; next = waiting.shift()) await run(...next);
}

async function run(name, body) {
  const started = Date.now();
  try {
    await body();
    console.log(`ok   ${name} (${Date.now() - started} ms)`);
  } catch (error) {
    failed += 1;
    console.log(`FAIL ${name}\n     ${error.message.split("\n").slice(0, 12).join("\n     ")}`);
  }
}

/** axe finds nothing, nothing overflows sideways, the console is quiet (a refused style would speak there). */
async function sound(page, where) {
  // Evaluated by the driver: the policy of the page forbids a script element.
  if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(AXE);
  await page.evaluate(() => Promise.all(document.getAnimations().map((animation) => animation.finished.catch(() => null))));
  const found = await page.evaluate(async () => {
    const runOnly = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
    // Every rule is run; what holds need not be told of every element.
    const { violations } = await window.axe.run(document, { runOnly, resultTypes: ["violations"] });
    return violations.flatMap(({ id, nodes }) => nodes.map((node) => `${id}: ${node.html.slice(0, 140)} ${node.any[0]?.message ?? ""}`));
  });
  assert(found.length === 0, `${where}: axe\n${found.join("\n")}`);
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
  assert(wide <= 0, `${where}: ${wide} pixels too wide`);
  assert(page.noise.length === 0, `${where}: ${page.noise.join("; ")}`);
}

for (const [language, theme, size] of [
  ["en", "light", "wide"],
  ["en", "dark", "small"],
  ["de", "light", "small"],
  ["de", "dark", "wide"],
  ["fr", "light", "small"],
  ["it", "dark", "small"],
]) {
  for (const [name, screen] of Object.entries(SCREENS)) {
    test(`${name}, ${language}, ${theme}, ${size}`, async () => {
      const page = await open({ language, theme, ...screen.query }, SIZES[size]);
      if (screen.names) await by(page, "reveal-names").click();
      await screen.do?.(page);
      await sound(page, name);
      await page.close();
    });
  }
}

test("every screen at 320 pixels", async () => {
  const page = await open({}, { width: 320, height: 640 });
  for (const screen of ["send", "reports", "correct", "overview", "ask", "certificate", "settings"]) {
    await by(page, `nav-${screen}`).click();
    await sound(page, screen);
  }
  await page.close();
});

test("practice and integration say so in words, production has no bar", async () => {
  for (const [environment, word] of [["practice", "Practice"], ["integration", "Integration"], ["production", null]]) {
    const page = await open({ environment });
    await sound(page, environment);
    const bar = by(page, "environment-bar");
    assert((await bar.count()) === (word === null ? 0 : 1), `${environment}: the bar`);
    if (word !== null) assert((await bar.textContent()).includes(word), `${environment}: the word`);
    const title = word === null ? "Lab Courier" : `Lab Courier – ${word}`;
    assert((await page.title()) === title, `${environment}: the title`);
    await page.close();
  }
});

test("a pause is said on every screen and ended there", async () => {
  const page = await open();
  await by(page, "nav-settings").click();
  await page.getByRole("switch", { name: "Pause sending" }).press("Space");
  await by(page, "nav-reports").click();
  await page.getByRole("button", { name: "Go on" }).waitFor();
  await sound(page, "paused");
  await page.getByRole("button", { name: "Go on" }).click();
  await page.getByRole("button", { name: "Go on" }).waitFor({ state: "detached" });
  await page.close();
});

test("leaving practice for production needs the word", async () => {
  const page = await open();
  await by(page, "nav-settings").click();
  const production = page.getByRole("listitem").filter({ hasText: "https://elm.example.org" });
  await production.getByRole("button", { name: "Use", exact: true }).click();
  const go = page.getByRole("button", { name: "Switch", exact: true });
  assert(await go.isDisabled(), "without the word it cannot be confirmed");
  await page.getByRole("textbox").fill("production");
  await go.click();
  await by(page, "environment-bar").waitFor({ state: "detached" });
  await page.close();
});

test("a report is withdrawn and released with a reason only", async () => {
  const page = await open();
  await detail(page, "held");
  await by(page, "action-release").click();
  assert(await by(page, "reason-confirm").isDisabled(), "without a reason it cannot be confirmed");
  await sound(page, "reason");
  await by(page, "reason").fill("Checked with the physician");
  await by(page, "reason-confirm").click();
  await page.locator('[data-testid="detail-state"]:not([data-state="held"])').waitFor();
  await page.close();
});

test("pasted text is a row of the list, then sent", async () => {
  const page = await open({ rows: "0" });
  await by(page, "paste-text").click();
  await sound(page, "paste");
  await page.getByRole("textbox").last().fill('{"resourceType": "Bundle"}');
  await page.getByRole("button", { name: "Add to the list" }).click();
  await by(page, "send-button").click();
  await by(page, "undo").waitFor();
  await page.close();
});

test("copying works", async () => {
  const page = await open();
  await by(page, "nav-certificate").click();
  await page.getByRole("button", { name: /^Copy: Serial/ }).click();
  await page.getByText("Copied").first().waitFor({ state: "attached" });
  await page.close();
});

test("dropped files are looked at, sent, and taken back", async () => {
  const page = await open();
  await by(page, "nav-settings").click();
  await page.evaluate(() => document.dispatchEvent(new CustomEvent("mock-drop", { detail: ["/a/one.json", "/a/birth-error.json"] })));
  await by(page, "candidate-row").nth(1).waitFor();
  assert((await by(page, "send-button").textContent()) === "Send 2 reports (1 needs correction)", "the button counts");
  await page.keyboard.press("Control+Enter");
  await by(page, "undo").waitFor();
  await page.keyboard.press("Control+z");
  await page.getByText("on hold: nothing was sent").waitFor();
  await page.close();
});

const dropped = (page, ...detail) => page.evaluate((paths) => document.dispatchEvent(new CustomEvent("mock-drop", { detail: paths })), detail);

/** A button can be pressed at its middle and at three corners, while something is said. */
async function free(page, id) {
  await page.getByRole("alertdialog").first().waitFor();
  const reached = await by(page, id).evaluate(async (button) => {
    // Two frames: what has just changed is measured and drawn.
    await new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)));
    const { left, right, top, bottom } = button.getBoundingClientRect();
    const at = (x, y) => button.contains(document.elementFromPoint(x, y));
    return [at(left + 2, top + 2), at(right - 2, top + 2), at((left + right) / 2, (top + bottom) / 2), at(right - 2, bottom - 2)];
  });
  assert(reached.every(Boolean), `${id} is covered`);
}

test("what the window says in its corner covers no button that decides", async () => {
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
  await page.close();
});

test("what the window says covers no button of a dialog, whose bar grows with what it says", async () => {
  const page = await open({ names: "1" }, SIZES.small);
  await detail(page, "failed");
  await by(page, "action-correct").click();
  await by(page, "correct-text").waitFor();
  for (let at = 0; at < 3; at += 1) await dropped(page, "/a/one.json", "/a/two.json");
  await by(page, "correct-text").fill("{}");
  await by(page, "correct-summary").waitFor();
  await free(page, "correct-send");
  await page.close();
});

test("a file dropped on a failed report corrects it", async () => {
  const page = await open();
  await detail(page, "failed");
  await page.evaluate(() => document.dispatchEvent(new CustomEvent("mock-drop", { detail: ["/a/corrected.json"] })));
  await by(page, "drop-as-correction").click();
  await by(page, "drop-correct").click();
  await by(page, "predecessor").waitFor();
  await page.locator('[data-testid="detail-state"][data-state="completed"]').waitFor();
  await by(page, "predecessor").click();
  await page.locator('[data-testid="detail-state"][data-state="superseded"]').waitFor();
  await page.close();
});

test("the first run teaches the loop: send, fail, correct, complete", async () => {
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
  await page.close();
});

test("the list by keyboard alone", async () => {
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
  await page.close();
});

test("a message leads to its place in the report", async () => {
  const page = await open();
  await detail(page, "failed");
  await by(page, "tab-timeline").click();
  await by(page, "message").first().getByRole("button").click();
  await page.locator('[data-section="Observation"] [data-field="observation.code"]').waitFor();
  await page.close();
});

test("a wrong password says so, the right one shows the certificate before it is stored", async () => {
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
  await page.close();
});

test("after ten idle minutes the window is locked, and no name is left anywhere", async () => {
  const page = await open({ clock: "1" });
  const anywhere = (name) =>
    page.evaluate(
      (text) => document.documentElement.outerHTML.includes(text) || document.title.includes(text),
      name,
    );
  await by(page, "nav-reports").click();
  await by(page, "report-row").first().waitFor();
  assert(!(await anywhere("Brunner, Lea")), "names are masked until they are asked for");
  await page.getByRole("button", { name: "Show names" }).click();
  await page.getByText("Brunner, Lea").first().waitFor();
  await page.clock.fastForward("09:50");
  await page.mouse.move(300, 300);
  await page.mouse.move(310, 310);
  await page.clock.fastForward("09:50");
  assert((await by(page, "locked").count()) === 0, "somebody is there");
  await page.clock.fastForward("00:20");
  await by(page, "locked").waitFor();
  assert(!(await anywhere("Brunner, Lea")), "nothing of a name is left in the page");
  assert((await by(page, "report-row").count()) === 0, "no row is left in the page");
  // Files dropped on it are not taken.
  await page.evaluate(() => document.dispatchEvent(new CustomEvent("mock-drop", { detail: ["/a/one.json"] })));
  assert(await page.evaluate(() => document.activeElement?.dataset.testid === "unlock"), "the keyboard is at the button");
  await page.keyboard.press("Enter");
  await by(page, "report-row").first().waitFor();
  assert(!(await anywhere("Brunner, Lea")), "masked again after the lock");
  assert((await by(page, "candidate-row").count()) === 0, "nothing was taken while it was locked");
  await page.close();
});

test("a passphrase is chosen, asked for, and told from a wrong one by keyboard alone", async () => {
  const page = await open();
  await by(page, "nav-settings").click();
  await by(page, "choose-passphrase").click();
  assert(await by(page, "passphrase-keep").isDisabled(), "nothing typed");
  await page.keyboard.type("open sesame");
  // Past the button that shows what was typed.
  await page.keyboard.press("Tab");
  await page.keyboard.press("Tab");
  await page.keyboard.type("open sesam");
  assert(await by(page, "passphrase-keep").isDisabled(), "not the same twice");
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
  assert((await by(page, "unlock-passphrase").inputValue()) === "", "not kept");
  await by(page, "unlock-passphrase").focus();
  await page.keyboard.type("open sesame");
  await page.keyboard.press("Enter");
  await by(page, "nav-settings").waitFor();
  await page.close();
});

test("10,000 rows are drawn few at a time, to the end", async () => {
  const page = await open({ rows: "10000" });
  await by(page, "nav-reports").click();
  await by(page, "report-row").first().waitFor();
  const grid = by(page, "report-list");
  let top = 0;
  for (let at = 0; at < 8; at += 1) {
    const before = await grid.evaluate((element) => element.scrollHeight);
    await grid.evaluate((element) => element.scrollTo(0, element.scrollHeight));
    await page.waitForFunction(
      (height) => document.querySelector('[data-testid="report-list"]').scrollHeight > height,
      before,
    );
    assert((await by(page, "report-row").count()) < 60, "too many rows are drawn");
    const now = await grid.evaluate((element) => element.scrollTop);
    assert(now > top, "the list moved back");
    top = now;
  }
  await page.close();
});

await Promise.all(Array.from({ length: SIDE_BY_SIDE }, work));
await browser.close();
await server.close();
console.log(failed === 0 ? "all passed" : `${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
