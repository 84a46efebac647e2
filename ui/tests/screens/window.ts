// The window with made-up data in Chromium: every screen can be reached, however seldom its state is in real life. All pages
// of a worker share one context: what was fetched and compiled for one is there for the next. The page itself keeps nothing.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

import { expect, test as base } from "@playwright/test";
import type { BrowserContext, Page } from "@playwright/test";
import { preview } from "vite";

import { by } from "./screens";

export { expect } from "@playwright/test";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
export const SIZES = { wide: { width: 1280, height: 800 }, small: { width: 1000, height: 700 } };

/** What the console and the page complained of, by page: a refused style would speak there. */
const noise = new WeakMap<Page, string[]>();

interface Window {
  /** Opens the window on made-up data; `query` says which. */
  open(query?: Record<string, string>, size?: { width: number; height: number }): Promise<Page>;
}

export const test = base.extend<Window, { address: string; shared: BrowserContext }>({
  address: [
    // oxlint-disable-next-line no-empty-pattern -- Playwright reads what a fixture needs from this pattern.
    async ({}, use) => {
      const where = { port: 0, host: "127.0.0.1" };
      const server = await preview({ mode: "mock", build: { outDir: "dist-mock" }, preview: where });
      await use(server.resolvedUrls?.local[0] ?? "");
      await server.close();
    },
    { scope: "worker" },
  ],
  shared: [
    async ({ browser }, use) => {
      const context = await browser.newContext({ bypassCSP: false });
      await use(context);
      await context.close();
    },
    { scope: "worker" },
  ],
  async open({ address, shared }, use) {
    const opened: Page[] = [];
    await use(async (query = {}, size = SIZES.wide) => {
      const page = await shared.newPage();
      opened.push(page);
      const heard: string[] = [];
      noise.set(page, heard);
      page.on("pageerror", (error) => heard.push(error.message));
      page.on("console", (line) => ["error", "warning"].includes(line.type()) && heard.push(line.text()));
      await page.setViewportSize(size);
      // As the product does (`freezePrototype`).
      await page.addInitScript(() => Object.freeze(Object.prototype));
      await page.goto(`${address}?${new URLSearchParams({ language: "en", theme: "light", ...query })}`);
      await page.locator("main").waitFor();
      if (query.names) await by(page, "reveal-names").click();
      return page;
    });
    for (const page of opened) await page.close();
  },
});

/** axe finds nothing, nothing overflows sideways, the console is quiet. */
export async function sound(page: Page, where: string) {
  // Evaluated by the driver: the policy of the page forbids a script element.
  if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(AXE);
  await still(page);
  const found = await page.evaluate(async (rules) => {
    const { axe } = window as unknown as { axe: { run(of: Document, options: object): Promise<Found> } };
    interface Found {
      violations: { id: string; nodes: { html: string; any: { message: string }[] }[] }[];
    }
    // Every rule is run; what holds need not be told of every element.
    const { violations } = await axe.run(document, { runOnly: rules, resultTypes: ["violations"] });
    return violations.flatMap(({ id, nodes }) =>
      nodes.map((node) => `${id}: ${node.html.slice(0, 140)} ${node.any[0]?.message ?? ""}`),
    );
  }, RULES);
  expect(found, `${where}: axe`).toEqual([]);
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
  expect(wide, `${where}: pixels too wide`).toBeLessThanOrEqual(0);
  expect(noise.get(page), `${where}: the console`).toEqual([]);
}

/** The same page in another theme and size, as when the window is changed: what is open stays so. */
export async function looking(page: Page, theme: string, size: { width: number; height: number }) {
  await page.setViewportSize(size);
  await page.evaluate(async (to) => {
    document.documentElement.dataset.theme = to;
    await new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)));
  }, theme);
}

/** The cache of the window, which React has handed down from its root. */
interface Cache {
  isFetching(): number;
  setQueryData(key: string[], change: (old: object) => object): void;
}

/** The same page in another language, as when that is chosen in the settings: what is open stays so. */
export async function speaking(page: Page, language: string) {
  await page.evaluate(async (to) => {
    interface Fiber {
      child: Fiber | null;
      memoizedProps: { client?: Cache } | null;
    }
    const element = document.getElementById("window") as unknown as Record<string, Fiber | null>;
    const root = Object.keys(element).find((name) => name.startsWith("__reactContainer"));
    let fiber = root === undefined ? null : (element[root] ?? null);
    while (fiber && !fiber.memoizedProps?.client) fiber = fiber.child;
    const cache = fiber?.memoizedProps?.client;
    if (!cache) throw new Error("the window has no cache");
    cache.setQueryData(["preferences"], (old) => ({ ...old, language: to }));
    const drawn = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
    do await drawn();
    while (document.documentElement.lang !== to || cache.isFetching() > 0);
    await drawn();
  }, language);
}

/** Nothing moves any more. */
export async function still(page: Page) {
  await page.evaluate(() =>
    Promise.all(document.getAnimations().map((animation) => animation.finished.catch(() => null))),
  );
}

/** Drops files on the window, as the made-up door tells it. */
export function dropped(page: Page, ...paths: string[]) {
  return page.evaluate((detail) => document.dispatchEvent(new CustomEvent("mock-drop", { detail })), paths);
}
