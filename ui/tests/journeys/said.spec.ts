// What a screen reader is told while a thousand statuses change: few sentences that sum up, and never one for each report.

import { expect, test } from "./window";
import type { Page } from "@playwright/test";

/** Reports that are sent; each is waiting, then sent, then in progress, then completed: three changes. */
const REPORTS = 340;
const CHANGES_EACH = 3;
/** Counts are told at most so often. */
const PAUSE_MS = 10_000;
/** Beside the counts: that they wait, that they are sent, that they are through. */
const PHASES = 4;

interface Said {
  at: number;
  text: string;
  counts: boolean;
}

/** Notes from now on what changes in a live region, or comes as an alert: that is what is read aloud. */
async function listen(page: Page): Promise<void> {
  await page.evaluate(() => {
    const LIVE = "[aria-live='polite'], [aria-live='assertive'], [role='status'], [role='alert'], [role='log']";
    const said: { at: number; text: string; counts: boolean }[] = [];
    const last = new Map<Element, string>();
    const words = (region: Element) => (region.textContent ?? "").trim();
    for (const region of document.querySelectorAll(LIVE)) last.set(region, words(region));
    const look = () => {
      for (const region of document.querySelectorAll(LIVE)) {
        const text = words(region);
        // What is live and comes with its words is read where it is an alert.
        const isNews = last.has(region) ? last.get(region) !== text : region.getAttribute("role") === "alert";
        last.set(region, text);
        if (isNews && text !== "")
          said.push({ at: performance.now(), text, counts: region.matches("p.visually-hidden") });
      }
    };
    new MutationObserver(look).observe(document.body, { childList: true, subtree: true, characterData: true });
    Object.assign(globalThis, { said });
  });
}

const heard = (page: Page) => page.evaluate(() => (globalThis as unknown as { said: Said[] }).said);

for (const screen of ["reports", "send"] as const) {
  // On *Send* it takes more than a minute.
  const tag = screen === "send" ? "@long" : [];
  test(`a thousand changes of status are told in few sentences, on ${screen}`, { tag }, async ({ window, core }) => {
    test.setTimeout(600_000);
    const paths = core.copies("covid", REPORTS);
    if (screen === "send") {
      await core.call("set_paused", { paused: true });
      await core.drop(paths);
      await window.getByTestId("send-button").click();
      await expect(window.getByTestId("batch")).toBeVisible();
      await expect
        .poll(async () => (await core.call("status")).counts.byState.queued ?? 0, { timeout: 120_000 })
        .toBe(REPORTS);
    } else {
      await window.getByTestId("nav-reports").click();
    }
    await listen(window);
    const before = Date.now();
    if (screen === "send") await core.call("set_paused", { paused: false });
    else await core.send(paths);
    const completed = async () => (await core.call("status")).counts.completed;
    await expect.poll(completed, { timeout: 400_000, intervals: [1000] }).toBe(REPORTS);
    // The last of it is told too, no later than its pause.
    const told = async () => (await heard(window)).filter(({ counts }) => counts).at(-1)?.text ?? "";
    await expect.poll(told, { timeout: 3 * PAUSE_MS }).toContain(String(REPORTS));
    const seconds = (Date.now() - before) / 1000;

    const all = await heard(window);
    const counts = all.filter((one) => one.counts);
    console.log(
      `${screen}: ${REPORTS * CHANGES_EACH} changes in ${seconds.toFixed(0)} s, ${all.length} sentences, ${counts.length} of them counts`,
    );
    for (const { at, text } of all) console.log(`  ${(at / 1000).toFixed(1)} s: ${text}`);
    expect(all.length).toBeLessThanOrEqual(Math.ceil((seconds * 1000) / PAUSE_MS) + PHASES);
    for (const [at, one] of counts.entries()) {
      const earlier = counts[at - 1];
      if (earlier) expect(one.at - earlier.at).toBeGreaterThan(PAUSE_MS * 0.9);
    }
  });
}
