// The hand and the eyes of a person at a window: clicks are counted, and how long a person needs is estimated from what there is
// to do and to read. A computer that works meanwhile is not in the figure: it is measured, never promised.

import { join } from "node:path";

import type { Locator, Page } from "@playwright/test";

import { expect } from "./window";

/**
 * Seconds by the keystroke-level model (S. K. Card, T. P. Moran, A. Newell: The keystroke-level model for user performance time with
 * interactive systems. Communications of the ACM 23 (1980)): a key of an average typist, pointing, a press of the button and its
 * release, from one device to the other, and the thought before each of these.
 */
const SECONDS = { key: 0.28, point: 1.1, button: 0.2, home: 0.4, thought: 1.35 };
/** Silent reading of plain texts (M. Brysbaert: How many words do we read per minute? Journal of Memory and Language 109 (2019)). */
const WORDS_PER_MINUTE = 238;
/** People read a quarter of the words on a page (J. Nielsen: How little do users read? 2008); who is careful reads twice as many. */
const SHARE_READ = 0.5;

/** Texts that can be seen without scrolling. */
function visibleTexts(): string[] {
  const texts: string[] = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const text = walker.currentNode.textContent?.trim() ?? "";
    const element = walker.currentNode.parentElement;
    if (text === "" || !element?.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
    const range = document.createRange();
    range.selectNodeContents(walker.currentNode);
    const box = range.getBoundingClientRect();
    const isInside = box.bottom > 0 && box.top < innerHeight && box.right > 0 && box.left < innerWidth;
    if (isInside && box.width > 1 && box.height > 1) texts.push(text);
  }
  return texts;
}

/** With `folder`, a picture is taken before each click, as `series`-1.png and so on. */
export function hand(window: Page, series: string, folder?: string) {
  const known = new Set<string>();
  const began = Date.now();
  let clicks = 0;
  let words = 0;
  let doing = 0;
  let pictures = 0;
  /** Reads whatever it has not read yet. */
  const read = async () => {
    for (const text of await window.evaluate(visibleTexts)) {
      if (!known.has(text)) words += text.split(/\s+/).length;
      known.add(text);
    }
  };
  const picture = async () => {
    await read();
    pictures += 1;
    if (folder) await window.screenshot({ path: join(folder, `${series}-${pictures}.png`) });
  };
  const press = async (what: Locator) => {
    await expect(what).toBeEnabled();
    await picture();
    await what.click();
    clicks += 1;
    doing += SECONDS.thought + SECONDS.point + SECONDS.button;
  };
  /** Types into the field where the cursor is already: whoever had to click into it first would have one more to do. */
  const type = async (field: Locator, text: string) => {
    await expect(field).toBeFocused();
    await read();
    await field.fill(text);
    doing += SECONDS.thought + 2 * SECONDS.home + text.length * SECONDS.key;
  };
  /** Files were dragged from another window: chosen there, taken, and let go. */
  const dragged = () => {
    doing += 3 * SECONDS.thought + 3 * SECONDS.point + 3 * SECONDS.button;
  };
  /** Seconds that a careful person needs, without what the computer takes. */
  const needed = () => {
    const all = (words / WORDS_PER_MINUTE) * 60;
    const seconds = { doing, reading: all * SHARE_READ, all, computer: (Date.now() - began) / 1000 };
    const rounded = Object.entries(seconds).map(([name, value]) => `${name} ${Math.round(value)} s`);
    console.log(`hand ${series}: ${clicks} clicks, ${words} words, ${rounded.join(", ")}`);
    return doing + seconds.reading;
  };
  return { press, picture, type, dragged, clicks: () => clicks, needed };
}
