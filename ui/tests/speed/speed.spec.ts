// How quick the window is on the real core with few and with many reports, for `cargo xtask bench ui`, which says where the
// core is, which journals there are, and where the figures go. What is quick enough stands there too.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { expect, test } from "@playwright/test";
import type { Browser, Page } from "@playwright/test";

import { coreAt, running, UI } from "../journeys/window";

const HOST = process.env.SPEED_HOST ?? "";
const ROUNDS = Number(process.env.SPEED_ROUNDS);
/** Folders of a window with few, with a thousand, and with many reports. */
const ROOTS = (process.env.SPEED_ROOTS ?? "").split("\n");
/** Reports that are sent while the memory of the page is looked at; each changes three times at least. */
const SENT = 3_500;
/** Of those, the ones before the first look. */
const FIRST = 100;

/** What is clicked, or typed into the search, and how it is known that the answer is on the screen. */
interface Action {
  name: string;
  click?: string;
  type?: string;
  shown: string;
  /** What the answer does not show any more. */
  gone?: string;
}

const ROW = '[data-testid="report-row"]';
const ACTIONS: Action[] = [
  { name: "the list", click: '[data-testid="nav-reports"]', shown: ROW },
  {
    name: "the list of those that need somebody",
    click: '[data-testid="group-needs-attention"]',
    shown: `${ROW}[data-state="failed"]`,
    gone: `${ROW}[data-state="completed"]`,
  },
  {
    name: "all again",
    click: '[data-testid="group-all"]',
    shown: `${ROW}[data-state="completed"]`,
  },
  // Every tenth has the word, and of the first twenty rows most have not.
  { name: "a search for a word", type: "salmonella", shown: `${ROW}[data-id$="0"]`, gone: `${ROW}[data-id$="5"]` },
  { name: "one report", click: ROW, shown: '[data-testid="detail"] [data-testid="meaning"]' },
  { name: "the overview", click: '[data-testid="nav-overview"]', shown: '[data-testid="chart"] li' },
  {
    name: "the overview of a year",
    click: "main header [role=group] button:last-of-type",
    shown: '[data-testid="chart"] li:nth-child(40)',
  },
  { name: "the causes", click: '[data-testid="nav-correct"]', shown: '[data-testid="cause"]' },
];

/** Does it in the page, and says after how many milliseconds the answer was painted. */
async function painted(page: Page, action: Action): Promise<number> {
  return page.evaluate(async ({ click, type, shown, gone }) => {
    const frame = () => new Promise((next) => requestAnimationFrame(next));
    const find = (selector: string) => document.querySelector<HTMLElement>(selector);
    const input = find("input[type=search]") as HTMLInputElement | null;
    const begun = performance.now();
    if (click) find(click)?.click();
    if (type && input) {
      Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value")?.set?.call(input, type);
      input.dispatchEvent(new Event("input", { bubbles: true }));
    }
    while (!find(shown) || (gone && find(gone))) {
      if (performance.now() - begun > 120_000) throw new Error(`not shown: ${shown}`);
      await frame();
    }
    // What was put into the page before a frame is painted when the next one begins.
    await frame();
    return performance.now() - begun;
  }, action);
}

/** Starts the core of a folder and shows the page; the milliseconds until it is painted. */
async function started(browser: Browser, root: string) {
  const page = await browser.newPage();
  const begun = performance.now();
  const host = await running(HOST, [root, join(UI, "dist")]);
  await page.goto(host.address);
  await page.locator("main h1").first().waitFor();
  await page.evaluate(() => new Promise((next) => requestAnimationFrame(() => requestAnimationFrame(next))));
  const took = performance.now() - begun;
  const end = async () => {
    await page.close();
    await host.end();
  };
  return { page, address: host.address, took, end };
}

async function welcomed(address: string, folder: string) {
  const core = coreAt(address, folder);
  const preferences = await core.call("preferences");
  await core.call("set_preferences", { preferences: { ...preferences, firstRunDone: true, undoSeconds: 1 } });
  return core;
}

/** MB that the page holds once what nobody needs is gone. */
async function memoryOf(page: Page): Promise<number> {
  const session = await page.context().newCDPSession(page);
  await session.send("HeapProfiler.collectGarbage");
  const { usedSize } = await session.send("Runtime.getHeapUsage");
  await session.detach();
  return usedSize / 1e6;
}

async function afterManyChanges(browser: Browser): Promise<[number, number, number]> {
  const folder = mkdtempSync(join(tmpdir(), "speed-"));
  const { page, address, end } = await started(browser, join(folder, "home"));
  const core = await welcomed(address, folder);
  await page.goto(address);
  await page.getByTestId("nav-reports").click();
  const completed = async (count: number) =>
    expect
      .poll(async () => (await core.call("status")).counts.byState.completed ?? 0, { timeout: 900_000 })
      .toBe(count);
  const paths = core.copies("covid", SENT);
  await core.send(paths.slice(0, FIRST));
  await completed(FIRST);
  const before = await memoryOf(page);
  const { submissions } = await core.send(paths.slice(FIRST));
  await completed(SENT);
  const details = await Promise.all(submissions.slice(0, 20).map((id) => core.call("detail", { id: id ?? 0 })));
  const each = Math.min(...details.map(({ timeline }) => timeline.length - 1));
  const after = await memoryOf(page);
  await end();
  rmSync(folder, { recursive: true, force: true });
  return [before, after, each * submissions.length];
}

test("the window is measured", async ({ browser }) => {
  test.setTimeout(3_600_000);
  const start = ROOTS.map((): number[] => []);
  const clicks = ACTIONS.map(({ name }): [string, number[], number[]] => [name, [], []]);
  for (const root of ROOTS) {
    const { address, end } = await started(browser, root);
    await welcomed(address, root);
    await end();
  }
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [at, root] of ROOTS.entries()) {
      const { page, took, end } = await started(browser, root);
      start[at]?.push(took);
      // The first has too few for what is clicked.
      if (at > 0) {
        for (const [which, action] of ACTIONS.entries()) {
          const took = await painted(page, action);
          clicks[which]?.[at === 1 ? 1 : 2].push(took);
        }
      }
      await end();
    }
  }
  const memory = await afterManyChanges(browser);
  writeFileSync(process.env.SPEED_FIGURES ?? "", JSON.stringify({ start, clicks, memory }));
});
