// Markup and scripts wherever words from outside stand, on every screen, in a real browser under the product's
// policy: all of it is text. Nothing runs, nothing loads, no element is made of it, nothing gets too wide.
//
// Several payloads stand in a field at once, so that each screen is visited few times; `MARKUP_AT_ONCE=1` tries each alone.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { chromium } from "playwright-core";
import { preview } from "vite";

import { PAYLOADS } from "./payloads.mjs";
import { SCREENS, by, detail } from "./screens.mjs";

const ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-software-rasterizer", "--disable-dev-shm-usage", "--disable-background-networking"];
const AT_ONCE = Number(process.env.MARKUP_AT_ONCE ?? 32);
/** Pages at a time: a browser and its driver each keep a core busy. */
const SIDE_BY_SIDE = 2;
/** Fields that must be seen on some screen; one that is no longer shown anywhere leaves this list. */
const SHOWN = ["baseUrl", "body", "contentType", "detail", "file", "issuer", "laboratory", "name", "params", "patient", "person", "rule", "serial", "source", "subject", "text", "value", "watchedFolder"];

const TYPED = {
  search: {
    do: (page) => by(page, "nav-reports").click().then(() => by(page, "report-row").first().waitFor()),
    into: (page) => page.getByRole("searchbox"),
    // Nothing has these words: the rows of before are gone once it has searched.
    until: (page) => by(page, "report-row").first().waitFor({ state: "detached" }),
  },
  reason: {
    do: (page) => detail(page, "failed").then(() => by(page, "action-withdraw").click()),
    into: (page) => by(page, "reason"),
  },
  correction: {
    do: (page) => detail(page, "failed").then(() => by(page, "action-correct").click()),
    into: (page) => by(page, "correct-text"),
    // What differs is shown a moment later: the difference of before has the report's own text.
    until: (page) => by(page, "difference").getByText("«typed»").first().waitFor(),
  },
  paste: {
    do: (page) => by(page, "paste-text").click(),
    into: (page) => page.getByRole("textbox").last(),
  },
};

const EVIDENCE = {
  evidence: {
    do: async (page) => {
      await detail(page, "failed");
      await by(page, "tab-timeline").click();
      const folded = page.locator('ol [aria-expanded="false"]');
      while ((await folded.count()) > 0) await folded.first().click();
    },
  },
};

function groups() {
  const all = [];
  for (let at = 0; at < PAYLOADS.length; at += AT_ONCE) all.push(PAYLOADS.slice(at, at + AT_ONCE));
  return all;
}

/** What is on the page: fields with their text, elements by name, and whatever went wrong. */
function look(whole) {
  const fields = {};
  const wrong = [];
  const seen = (text, where) => {
    for (const found of text.matchAll(/«([\w-]+)»/g)) {
      fields[found[1]] = (fields[found[1]] ?? 0) + 1;
      const shown = text.slice(found.index + found[0].length);
      if (!shown.startsWith(whole)) wrong.push(`${where} ${found[1]} is not literal: ${JSON.stringify(shown.slice(0, 80))}`);
    }
  };
  const texts = document.createTreeWalker(document.documentElement, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_COMMENT);
  while (texts.nextNode()) seen(texts.currentNode.data, texts.currentNode.nodeName);
  const elements = new Set();
  for (const element of document.querySelectorAll("*")) {
    elements.add(element.tagName);
    if ("value" in element && typeof element.value === "string") seen(element.value, element.tagName);
    for (const { name, value } of element.attributes) {
      if (/^on/i.test(name)) wrong.push(`${element.tagName} has ${name}`);
      if (!value.includes("»")) continue;
      if (/^(title|alt|placeholder|value|aria-[a-z]+|data-[a-z-]+|datetime|id)$/i.test(name)) seen(value, name);
      else wrong.push(`${element.tagName} has outside words in ${name}`);
    }
  }
  const wide = document.documentElement.scrollWidth - window.innerWidth;
  if (wide > 0) wrong.push(`${wide} pixels too wide`);
  return { fields, wrong, elements: [...elements].toSorted(), hits: globalThis.hits, polluted: {}.hit !== undefined };
}

const server = await preview({ mode: "mock", build: { outDir: "dist-mock" }, preview: { port: 0, host: "127.0.0.1" } });
const address = server.resolvedUrls.local[0];
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ARGUMENTS });
const began = Date.now();
const problems = [];
const shown = new Set();
let cases = 0;
let visits = 0;

/** A context for all pages: what was fetched and compiled for one is there for the next. */
const shared = await browser.newContext({ viewport: { width: 1280, height: 800 }, bypassCSP: false });

async function open(query, hostile) {
  const page = await shared.newPage();
  page.setDefaultTimeout(60_000);
  page.wrong = [];
  page.on("pageerror", (error) => page.wrong.push(error.message));
  page.on("console", (line) => ["error", "warning"].includes(line.type()) && page.wrong.push(line.text()));
  page.on("dialog", (dialog) => page.wrong.push(`a dialog: ${dialog.message()}`));
  page.on("popup", () => page.wrong.push("a window"));
  page.on("worker", () => page.wrong.push("a worker"));
  page.on("request", (request) => {
    const own = request.url().startsWith(address) && !request.url().includes("hostile");
    if (!own && !request.url().startsWith("data:,")) page.wrong.push(`loads ${request.url().slice(0, 100)}`);
  });
  await page.addInitScript((text) => {
    globalThis.hits = 0;
    globalThis.hit = () => (globalThis.hits += 1);
    globalThis.hostile = text;
    Object.freeze(Object.prototype);
  }, hostile);
  await page.goto(`${address}?${new URLSearchParams({ language: "en", theme: "light", ...query })}`);
  await page.locator("main").waitFor();
  // Words that are hidden are not literal: names are shown on every screen that can hide them.
  const names = by(page, "reveal-names");
  if ((await names.count()) > 0) await names.click();
  return page;
}

/** Looks at a screen before a field that is missing is called missing. */
const LOOKS_MAX = 600;

/** One screen under one text; what was seen of it. */
async function visit(screen, whole, expected = []) {
  const page = await open(screen.query ?? {}, whole);
  await screen.do?.(page);
  if (screen.into) {
    await screen.into(page).fill(`«typed»${whole}`);
    await screen.until?.(page);
  }
  const seen = await settled(page, whole, expected);
  seen.wrong.push(...page.wrong);
  if (seen.hits !== 0) seen.wrong.push(`${seen.hits} executions`);
  if (seen.polluted) seen.wrong.push("a prototype was changed");
  await page.close();
  return seen;
}

/**
 * What is seen once every expected field is drawn: an editor may need more frames than two on a busy computer. The
 * last look counts where a field never comes.
 */
async function settled(page, whole, expected) {
  let seen;
  for (let looks = 0; looks < LOOKS_MAX; looks += 1) {
    // Two frames: what was asked for is drawn, and an element made of it would have begun to load.
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
    seen = await page.evaluate(look, whole);
    if (expected.every((field) => field in seen.fields)) break;
  }
  return seen;
}

async function tried(name, screen) {
  const plain = await visit(screen, "plain");
  for (const group of groups()) {
    const whole = group.join(" ⁂ ");
    const seen = await visit(screen, whole, Object.keys(plain.fields));
    visits += 1;
    // A one-line field drops line ends and nothing else; no payload has one.
    for (const tag of seen.elements) if (!plain.elements.includes(tag)) seen.wrong.push(`an element ${tag}`);
    const fields = Object.keys(seen.fields);
    const missing = Object.keys(plain.fields).filter((field) => !fields.includes(field));
    if (missing.length > 0) seen.wrong.push(`not shown: ${missing.join(" ")}`);
    for (const field of fields) shown.add(field);
    cases += fields.length * group.length;
    for (const one of seen.wrong) problems.push(`${name}: ${one}`);
  }
  console.log(`     ${name}: ${Object.keys(plain.fields).toSorted().join(" ") || "no words from outside"}`);
}

/** One screen alone, by its name. */
const only = process.argv[2];
const waiting = Object.entries({ ...SCREENS, ...EVIDENCE, ...TYPED }).filter(([name]) => only === undefined || name === only);
const count = waiting.length;
async function work() {
  for (let next = waiting.shift(); next; next = waiting.shift()) {
    const [name, screen] = next;
    try {
      await tried(name, screen);
    } catch (error) {
      problems.push(`${name}: ${error.message.split("\n").slice(0, 6).join(" ")}`);
    }
  }
}
await Promise.all(Array.from({ length: SIDE_BY_SIDE }, work));
await browser.close();
await server.close();

for (const field of SHOWN) if (only === undefined && !shown.has(field)) problems.push(`${field} was seen on no screen`);
if (PAYLOADS.length < 60) problems.push(`${PAYLOADS.length} payloads`);
const unique = [...new Set(problems)];
for (const one of unique.slice(0, 40)) console.log(`FAIL ${one}`);
const figure = {
  row: "markup",
  test: "every_screen_shows_it_as_text",
  cases,
  losses: 0,
  duplicates: 0,
  falseCompleted: 0,
  panics: problems.length,
  seconds: (Date.now() - began) / 1000,
  measures: { payloads: PAYLOADS.length, fields: shown.size, screens: count, visits },
};
console.log(`reliability ${JSON.stringify(figure)}`);
if (process.env.LABCOURIER_FIGURES) {
  mkdirSync(process.env.LABCOURIER_FIGURES, { recursive: true });
  writeFileSync(join(process.env.LABCOURIER_FIGURES, `${figure.row}.${figure.test}.json`), `${JSON.stringify(figure)}\n`);
}
console.log(unique.length === 0 ? `${PAYLOADS.length} payloads in ${shown.size} fields of ${count} screens: all text` : `${unique.length} problems`);
process.exitCode = unique.length === 0 ? 0 : 1;
