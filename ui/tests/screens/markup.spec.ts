// Markup and scripts wherever words from outside stand, on every screen, in a real browser under the product's policy: all of it
// is text. Nothing runs, nothing loads, no element is made of it, nothing gets too wide.
//
// Several payloads stand in a field at once, so that each screen is visited few times; `MARKUP_AT_ONCE=1` tries each alone, and `MARKUP_ONLY`
// names one screen.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import type { BrowserContext, Locator, Page } from "@playwright/test";

import { DIALOGS } from "./dialogs";
import { PAYLOADS } from "./payloads";
import { SCREENS, by, detail } from "./screens";
import type { Screen } from "./screens";
import { expect, test } from "./window";

const AT_ONCE = Number(process.env.MARKUP_AT_ONCE ?? 64);
/** One screen alone, by its name. */
const ONLY = process.env.MARKUP_ONLY;
/** Fields that must be seen on some screen; one that is no longer shown anywhere leaves this list. */
const SHOWN = [
  "baseUrl",
  "body",
  "contentType",
  "detail",
  "file",
  "issuer",
  "laboratory",
  "name",
  "params",
  "patient",
  "person",
  "rule",
  "serial",
  "source",
  "subject",
  "text",
  "value",
  "watchedFolder",
];

interface Hostile extends Screen {
  /** The field that is typed into, and what then is there. */
  into?: (page: Page) => Locator;
  until?: (page: Page) => Promise<unknown>;
}

/** What stands in the page for the payloads to call. */
interface Trap {
  hits: number;
  hit: () => void;
  hostile: string;
}

interface Seen {
  fields: Record<string, number>;
  wrong: string[];
  elements: string[];
  hits: number;
  polluted: boolean;
}

const TYPED: Record<string, Hostile> = {
  search: {
    do: SCREENS.reports?.do,
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

const EVIDENCE: Record<string, Hostile> = {
  evidence: {
    do: async (page) => {
      await detail(page, "failed");
      await by(page, "tab-timeline").click();
      const folded = page.locator('ol [aria-expanded="false"]');
      while ((await folded.count()) > 0) await folded.first().click();
    },
  },
};

/** What is on the page: fields with their text, elements by name, and whatever went wrong. */
function look(whole: string): Seen {
  const fields: Record<string, number> = {};
  const wrong: string[] = [];
  const seen = (text: string, where: string) => {
    for (const found of text.matchAll(/«([\w-]+)»/g)) {
      const field = found[1] ?? "";
      fields[field] = (fields[field] ?? 0) + 1;
      const shown = text.slice(found.index + found[0].length);
      if (!shown.startsWith(whole))
        wrong.push(`${where} ${field} is not literal: ${JSON.stringify(shown.slice(0, 80))}`);
    }
  };
  const elements = new Set<string>();
  const walk = (root: Document | ShadowRoot) => {
    const texts = document.createTreeWalker(root, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_COMMENT);
    while (texts.nextNode()) {
      const { data, nodeName, parentElement } = texts.currentNode as CharacterData;
      if (!parentElement?.closest(".cm-line")) seen(data, nodeName);
    }
    // An editor gives each word of a line an element of its own, and draws of a long line what is looked at.
    for (const line of root.querySelectorAll(".cm-line")) {
      const found = /«([\w-]+)»/.exec(line.textContent);
      if (found?.[1] === undefined) continue;
      fields[found[1]] = (fields[found[1]] ?? 0) + 1;
      const begin = line.textContent.slice(found.index + found[0].length);
      if (!begin.startsWith(whole.slice(0, 12)))
        wrong.push(`a line is not literal: ${JSON.stringify(begin.slice(0, 80))}`);
    }
    for (const element of root.querySelectorAll("*")) {
      // What an editor sets beside a sign that it names instead of drawing it loads nothing.
      if (!element.matches(".cm-line img.cm-widgetBuffer:not([src])")) elements.add(element.tagName);
      if ("value" in element && typeof element.value === "string") seen(element.value, element.tagName);
      for (const { name, value } of element.attributes) {
        if (/^on/i.test(name)) wrong.push(`${element.tagName} has ${name}`);
        if (!value.includes("»")) continue;
        if (/^(title|alt|placeholder|value|aria-[a-z]+|data-[a-z-]+|datetime|id)$/i.test(name)) seen(value, name);
        else wrong.push(`${element.tagName} has outside words in ${name}`);
      }
      // The source is drawn in a tree of its own.
      if (element.shadowRoot) walk(element.shadowRoot);
    }
  };
  walk(document);
  const wide = document.documentElement.scrollWidth - window.innerWidth;
  if (wide > 0) wrong.push(`${wide} pixels too wide`);
  return {
    fields,
    wrong,
    elements: [...elements].toSorted(),
    hits: (globalThis as unknown as Trap).hits,
    polluted: "hit" in {},
  };
}

/** Looks at a screen before a field that is missing is called missing. */
const LOOKS_MAX = 600;

/**
 * What is seen once every expected field is drawn: an editor may need more frames than two on a busy computer. The
 * last look counts where a field never comes.
 */
async function settled(page: Page, whole: string, expected: string[]): Promise<Seen> {
  for (let looks = 1; ; looks += 1) {
    // Two frames: what was asked for is drawn, and an element made of it would have begun to load.
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
    const seen = await page.evaluate(look, whole);
    if (looks === LOOKS_MAX || expected.every((field) => field in seen.fields)) return seen;
  }
}

/** A page whose every attempt to do something with these words is noted. */
async function trapped(context: BrowserContext, address: string, query: Record<string, string>, hostile: string) {
  const page = await context.newPage();
  const wrong: string[] = [];
  page.on("pageerror", (error) => wrong.push(error.message));
  page.on("console", (line) => ["error", "warning"].includes(line.type()) && wrong.push(line.text()));
  page.on("dialog", (dialog) => wrong.push(`a dialog: ${dialog.message()}`));
  page.on("popup", () => wrong.push("a window"));
  page.on("worker", () => wrong.push("a worker"));
  page.on("request", (request) => {
    const own = request.url().startsWith(address) && !request.url().includes("hostile");
    if (!own && !request.url().startsWith("data:,")) wrong.push(`loads ${request.url().slice(0, 100)}`);
  });
  await page.addInitScript((text) => {
    const trap: Trap = { hits: 0, hit: () => (trap.hits += 1), hostile: text };
    Object.defineProperties(globalThis, {
      hits: { get: () => trap.hits },
      hit: { value: trap.hit },
      hostile: { value: text },
    });
    Object.freeze(Object.prototype);
  }, hostile);
  await page.goto(`${address}?${new URLSearchParams({ language: "en", theme: "light", ...query })}`);
  await page.locator("main").waitFor();
  // Words that are hidden are not literal: names are shown on every screen that can hide them.
  const names = by(page, "reveal-names");
  if ((await names.count()) > 0) await names.click();
  return { page, wrong };
}

type Visit = (screen: Hostile, whole: string, expected?: string[]) => Promise<Seen>;

/** One screen under one text after the other; what was seen on it, and what was wrong. */
async function tried(visit: Visit, screen: Hostile) {
  const plain = await visit(screen, "plain");
  const shown = Object.keys(plain.fields);
  const wrong: string[] = [];
  let cases = 0;
  let visits = 0;
  for (let at = 0; at < PAYLOADS.length; at += AT_ONCE) {
    const group = PAYLOADS.slice(at, at + AT_ONCE);
    const seen = await visit(screen, group.join(" ⁂ "), shown);
    visits += 1;
    wrong.push(...seen.wrong);
    // A one-line field drops line ends and nothing else; no payload has one.
    for (const tag of seen.elements) if (!plain.elements.includes(tag)) wrong.push(`an element ${tag}`);
    const fields = Object.keys(seen.fields);
    const missing = shown.filter((field) => !fields.includes(field));
    if (missing.length > 0) wrong.push(`not shown: ${missing.join(" ")}`);
    cases += fields.length * group.length;
  }
  return { shown, wrong, cases, visits };
}

/** For the table of faults in docs/reliability.md. */
function noted(figure: { cases: number; panics: number; seconds: number; measures: Record<string, number> }) {
  const whole = {
    row: "markup",
    test: "every_screen_shows_it_as_text",
    losses: 0,
    duplicates: 0,
    falseCompleted: 0,
    ...figure,
  };
  console.log(`reliability ${JSON.stringify(whole)}`);
  const folder = process.env.LABCOURIER_FIGURES;
  if (!folder) return;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `${whole.row}.${whole.test}.json`), `${JSON.stringify(whole)}\n`);
}

// Thousands of letters of every kind in each field: laying them out takes a busy computer a minute.
test.use({ actionTimeout: 300_000 });

test("every screen shows what comes from outside as text", async ({ shared, address }) => {
  test.setTimeout(1_800_000);
  const began = Date.now();
  const visit: Visit = async (screen, whole, expected = []) => {
    const { page, wrong } = await trapped(shared, address, screen.query ?? {}, whole);
    await screen.do?.(page);
    if (screen.into) {
      await screen.into(page).fill(`«typed»${whole}`);
      await screen.until?.(page);
    }
    const seen = await settled(page, whole, expected);
    seen.wrong.push(...wrong);
    if (seen.hits !== 0) seen.wrong.push(`${seen.hits} executions`);
    if (seen.polluted) seen.wrong.push("a prototype was changed");
    await page.close();
    return seen;
  };
  const problems = new Set<string>();
  const shown = new Set<string>();
  const all = Object.entries({ ...SCREENS, ...DIALOGS, ...EVIDENCE, ...TYPED });
  const screens = all.filter(([name]) => ONLY === undefined || name === ONLY);
  let cases = 0;
  let visits = 0;
  for (const [name, screen] of screens) {
    await test.step(name, async () => {
      const found = await tried(visit, screen);
      for (const field of found.shown) shown.add(field);
      for (const one of found.wrong) problems.add(`${name}: ${one}`);
      cases += found.cases;
      visits += found.visits;
    });
  }
  for (const field of SHOWN)
    if (ONLY === undefined && !shown.has(field)) problems.add(`${field} was seen on no screen`);
  const measures = { payloads: PAYLOADS.length, fields: shown.size, screens: screens.length, visits };
  noted({ cases, panics: problems.size, seconds: (Date.now() - began) / 1000, measures });
  expect(PAYLOADS.length).toBeGreaterThanOrEqual(60);
  expect([...problems]).toEqual([]);
});
