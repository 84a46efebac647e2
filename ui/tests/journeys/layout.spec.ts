// No text is cut off and none stands on another: with large text, in a narrow window, with texts that are 40 % longer, and
// No text is cut off and none stands on another: with large text, in a narrow window, with texts that are 40 % longer, and
// in the colours that the system forces.

import { readFileSync } from "node:fs";

import type { Page } from "@playwright/test";

import { expect, sound, test } from "./window";
import type { Core } from "./window";

/** Reports of every kind that a list has: one that is done, two of one cause, one that is held. */
async function filled(core: Core): Promise<void> {
  const whole = readFileSync(core.sample("covid"), "utf8");
  const wrong = core.write("held.json", whole.replace(/"birthDate": ?"[^"]*"/, '"birthDate": "2999-01-01"'));
  const { submissions } = await core.send([core.sample("malaria"), ...core.copies("muster-fehler", 2), wrong]);
  const ids = submissions.flatMap((id) => (id === null ? [] : [id]));
  await core.call("set_deadlines", {
    deadlines: [
      { disease: "covid-19", hours: 2 },
      { disease: "malaria", hours: 24 },
    ],
  });
  await expect.poll(async () => (await core.call("batch", { ids })).moving).toBe(0);
}

const by = (page: Page, id: string) => page.getByTestId(id);

/** The main screens, each from wherever the window is. */
const SCREENS: Record<string, (page: Page) => Promise<unknown>> = {
  send: (page) => by(page, "nav-send").click(),
  reports: (page) =>
    by(page, "nav-reports")
      .click()
      .then(() => by(page, "report-row").first().waitFor()),
  "a report": async (page) => {
    await by(page, "report-row").nth(1).click();
    await by(page, "detail-state").waitFor();
  },
  history: (page) => by(page, "tab-timeline").click(),
  correction: async (page) => {
    await by(page, "action-correct").click();
    await by(page, "findings-sum").waitFor();
  },
  "to correct": async (page) => {
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await by(page, "nav-correct").click();
    await by(page, "cause-page").waitFor();
  },
  overview: (page) =>
    by(page, "nav-overview")
      .click()
      .then(() => by(page, "overview-sentence").waitFor()),
  ask: (page) =>
    by(page, "nav-ask")
      .click()
      .then(() => by(page, "hit").first().waitFor()),
  certificate: (page) => by(page, "nav-certificate").click(),
  settings: (page) =>
    by(page, "nav-settings")
      .click()
      .then(() => by(page, "choose-watched").waitFor()),
};

/** Texts that are cut off without a sign of it, and pairs of texts that stand on each other. */
function crowded(): string[] {
  const found: string[] = [];
  const modal = document.querySelector("[role=dialog]");
  const root = modal ?? document.body;
  const isSeen = (element: Element) =>
    element.checkVisibility({ opacityProperty: true, visibilityProperty: true }) &&
    !element.closest(".visually-hidden, [aria-hidden=true], .cm-editor");
  /** What of a box its scrolling and clipping ancestors leave. */
  const shown = (element: Element, box: DOMRect): DOMRect | null => {
    let { left, top, right, bottom } = box;
    for (let above = element.parentElement; above; above = above.parentElement) {
      if (getComputedStyle(above).overflow === "visible") continue;
      const edge = above.getBoundingClientRect();
      [left, top, right, bottom] = [
        Math.max(left, edge.left),
        Math.max(top, edge.top),
        Math.min(right, edge.right),
        Math.min(bottom, edge.bottom),
      ];
    }
    return right - left > 1 && bottom - top > 1 ? new DOMRect(left, top, right - left, bottom - top) : null;
  };
  const texts: { element: Element; box: DOMRect; words: string }[] = [];
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode as Text;
    const element = node.parentElement;
    if (!element || !node.data.trim() || !isSeen(element)) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    for (const box of range.getClientRects()) {
      const rest = shown(element, box);
      if (rest) texts.push({ element, box: rest, words: node.data.trim().slice(0, 40) });
    }
    // Clipped sideways by what does not scroll: there must be an ellipsis.
    for (let above: Element | null = element; above && above !== root; above = above.parentElement) {
      const { overflowX, textOverflow } = getComputedStyle(above);
      if (overflowX === "auto" || overflowX === "scroll" || textOverflow === "ellipsis") break;
      if (overflowX !== "hidden" && overflowX !== "clip") continue;
      const edge = above.getBoundingClientRect();
      const whole = range.getBoundingClientRect();
      // What has gone to a line that is not seen at all is left out, not cut.
      if (whole.top < edge.bottom - 1 && whole.right > edge.right + 1 && whole.left < edge.right)
        found.push(`cut: ${node.data.trim().slice(0, 60)}`);
      break;
    }
  }
  for (const [at, one] of texts.entries()) {
    for (const other of texts.slice(at + 1)) {
      if (one.element === other.element || one.element.contains(other.element) || other.element.contains(one.element))
        continue;
      const wide = Math.min(one.box.right, other.box.right) - Math.max(one.box.left, other.box.left);
      const tall = Math.min(one.box.bottom, other.box.bottom) - Math.max(one.box.top, other.box.top);
      // Lines may touch; letters may not.
      if (wide <= 3 || tall <= Math.min(one.box.height, other.box.height) * 0.35) continue;
      // What lies over the page hides what is below it: only what is on top at that place is read.
      const [x, y] = [
        Math.max(one.box.left, other.box.left) + wide / 2,
        Math.max(one.box.top, other.box.top) + tall / 2,
      ];
      const top = document.elementsFromPoint(x, y);
      if (!top.includes(one.element) || !top.includes(other.element)) continue;
      const [upper, lower] = [one.element, other.element].toSorted((a, b) => top.indexOf(a) - top.indexOf(b));
      const between = top.slice(top.indexOf(upper as Element), top.indexOf(lower as Element));
      const isOpaque = (element: Element) =>
        !/rgba\(.*, 0\)|transparent/.test(getComputedStyle(element).backgroundColor);
      const covered = between.some((element) => !element.contains(lower as Element) && isOpaque(element));
      if (!covered) found.push(`on each other: ${one.words} | ${other.words}`);
    }
  }
  const wide = document.documentElement.scrollWidth - window.innerWidth;
  if (wide > 0) found.push(`${wide} pixels too wide`);
  return [...new Set(found)];
}

/** Goes through the main screens and looks at each. */
async function walk(page: Page): Promise<string[]> {
  const found: string[] = [];
  for (const [name, show] of Object.entries(SCREENS)) {
    await show(page);
    await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))));
    found.push(...(await page.evaluate(crowded)).map((what) => `${name}: ${what}`));
  }
  return found;
}

/** Each word 40 % longer, in every text of a catalogue; what is no word of a text stays. */
function lengthened(message: unknown, isText = true): unknown {
  if (typeof message === "string")
    return isText
      ? message.replace(/\p{L}{3,}/gu, (word) => word + word.slice(0, Math.round(word.length * 0.4)))
      : message;
  if (!Array.isArray(message)) return message;
  return message.map((part: unknown) => {
    if (!Array.isArray(part)) return lengthened(part);
    const [name, kind, choices] = part as [string, string, Record<string, unknown> | undefined];
    if (typeof choices !== "object") return part;
    return [
      name,
      kind,
      Object.fromEntries(
        Object.entries(choices).map(([key, value]) => [key, key === "offset" ? value : lengthened(value)]),
      ),
    ];
  });
}

async function inLongWords(page: Page): Promise<void> {
  await page.route(/\/assets\/en-[^/]*\.js$/, async (route) => {
    const answer = await route.fetch();
    const source = await answer.text();
    const { default: catalogue } = (await import(`data:text/javascript,${encodeURIComponent(source)}`)) as {
      default: Record<string, unknown>;
    };
    const longer = Object.fromEntries(Object.entries(catalogue).map(([id, message]) => [id, lengthened(message)]));
    await route.fulfill({ response: answer, body: `export default ${JSON.stringify(longer)}` });
  });
}

test("texts that are 40 % longer are neither cut off nor on each other", async ({ page, core }) => {
  await filled(core);
  await inLongWords(page);
  await page.goto(core.address);
  await expect(by(page, "nav-settings")).toContainText("SettingsSet");
  expect(await walk(page)).toEqual([]);
});

for (const size of [
  { width: 1280, height: 800 },
  { width: 800, height: 600 },
]) {
  test(`German at ${size.width} by ${size.height} has room`, async ({ page, core }) => {
    await filled(core);
    await core.call("set_preferences", { preferences: { ...(await core.call("preferences")), language: "de" } });
    await page.setViewportSize(size);
    await page.goto(core.address);
    expect(await walk(page)).toEqual([]);
  });
}

test("text of 200 % is neither cut off nor on each other", async ({ page, core }) => {
  await filled(core);
  await core.call("set_preferences", {
    preferences: { ...(await core.call("preferences")), textPercent: 200, language: "de" },
  });
  await page.goto(core.address);
  await expect(by(page, "nav-send")).toBeVisible();
  expect(await walk(page)).toEqual([]);
});

test("with text of 200 % in a small window Send is in reach, and so is every place", async ({ window, core }) => {
  await core.call("set_preferences", { preferences: { ...(await core.call("preferences")), textPercent: 200 } });
  await window.setViewportSize({ width: 900, height: 650 });
  await window.reload();
  await expect(by(window, "nav-send")).toBeVisible();
  await core.drop([core.sample("covid")]);
  await expect(by(window, "send-button")).toBeInViewport({ ratio: 1 });
  for (const place of ["send", "reports", "correct", "overview", "ask", "certificate", "settings"])
    await expect(by(window, `nav-${place}`)).toBeInViewport({ ratio: 1 });
});

/** Rows of the list that nothing hides, from their upper to their lower edge. */
function rowsInSight(page: Page): Promise<number> {
  return by(page, "report-row").evaluateAll((rows) => {
    const isSeen = (row: Element, x: number, y: number) => row.contains(document.elementFromPoint(x, y));
    return rows.filter((row) => {
      const { left, width, top, bottom } = row.getBoundingClientRect();
      return isSeen(row, left + width / 2, top + 2) && isSeen(row, left + width / 2, bottom - 3);
    }).length;
  });
}

for (const language of ["en", "de"]) {
  test(`in the smallest window the list of reports is in sight above what became of the last ones: ${language}`, async ({
    window,
    core,
  }) => {
    await filled(core);
    await core.call("set_preferences", { preferences: { ...(await core.call("preferences")), language } });
    await window.setViewportSize({ width: 320, height: 640 });
    await window.reload();
    await expect(by(window, "nav-send")).toBeVisible();
    await core.drop([core.sample("gonorrhoea"), ...core.copies("muster-fehler", 4).slice(2)]);
    await expect(by(window, "send-button")).toBeEnabled();
    await by(window, "send-button").click();
    const batch = by(window, "batch");
    await expect(batch).toHaveAttribute("data-phase", "settled");
    await by(window, "nav-reports").click();
    await expect(by(window, "report-row")).toHaveCount(7);
    await expect.poll(() => rowsInSight(window)).toBeGreaterThanOrEqual(4);
    expect(await window.evaluate(crowded)).toEqual([]);

    // With text of 200 % a window of 900 pixels is as narrow.
    await window.setViewportSize({ width: 900, height: 650 });
    const textSize = () => window.evaluate(() => getComputedStyle(document.documentElement).fontSize);
    await expect(async () => {
      await window.keyboard.press("Control+Equal");
      expect(await textSize()).toBe("32px");
    }).toPass();
    await expect.poll(() => rowsInSight(window)).toBeGreaterThanOrEqual(1);
    expect(await window.evaluate(crowded)).toEqual([]);
    await window.keyboard.press("Control+0");
    await expect.poll(textSize).toBe("16px");
    await window.setViewportSize({ width: 320, height: 640 });

    // One thing to do is in sight; the rest is behind one button.
    await expect(by(window, "batch-correct")).toBeInViewport({ ratio: 1 });
    await expect(by(window, "batch-show")).toBeHidden();
    await batch.getByTestId("more-actions").click();
    await window.getByRole("menuitem").click();
    await expect(by(window, "sent-filter")).toBeVisible();
    await by(window, "sent-filter").getByRole("button").click();

    // With reports that are chosen there are two bars.
    await by(window, "choose-all").click();
    await by(window, "bulk-bar").getByTestId("more-actions").click();
    expect(await window.getByRole("menuitem").count()).toBeGreaterThanOrEqual(3);
    await window.keyboard.press("Escape");
    await expect.poll(() => rowsInSight(window)).toBeGreaterThanOrEqual(3);
    await sound(window);

    // So are the filters, and how many of them are in force is said.
    const filters = by(window, "filters");
    await expect(by(window, "filter-state")).toBeHidden();
    await filters.click();
    await by(window, "filter-state").click();
    await window.getByRole("menuitemcheckbox").first().click();
    await window.keyboard.press("Escape");
    await filters.click();
    await expect(filters).toHaveText("Filter" + (language === "en" ? "s · 1" : " · 1"));
    await expect(by(window, "filter-state")).toBeHidden();

    await batch.getByRole("button").last().click();
    await expect(batch).toHaveCount(0);
    // Where there is room, all of them stand side by side.
    await window.setViewportSize({ width: 1280, height: 640 });
    await expect(filters).toBeHidden();
    await expect(by(window, "filter-state")).toBeVisible();
    await expect(by(window, "bulk-csv")).toBeVisible();
  });
}

test("theme and rows are chosen in the settings, are seen at once and are there at the next start", async ({
  window,
  core,
  restart,
}) => {
  await core.call("set_paused", { paused: true });
  await core.send([core.sample("covid")]);
  const choose = async (what: string, name: string) => {
    await window.getByRole("button", { name: what }).click();
    await window.getByRole("option", { name, exact: true }).click();
  };
  const height = async () => {
    await by(window, "nav-reports").click();
    return (await by(window, "report-row").boundingBox())?.height ?? 0;
  };
  const ground = () => window.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const [light, comfortable] = [await ground(), await height()];
  await by(window, "nav-settings").click();
  await choose("Theme", "Dark");
  await choose("Rows", "Compact");
  await sound(window);
  await expect.poll(ground).not.toBe(light);
  const dark = await ground();
  const compact = await height();
  expect(compact).toBeLessThan(comfortable);
  await restart();
  expect(await core.call("preferences")).toMatchObject({ theme: "dark", density: "compact" });
  await expect.poll(ground).toBe(dark);
  expect(await height()).toBe(compact);
});

test("in forced colours every screen is sound, and what is chosen is told from what is not", async ({ page, core }) => {
  await filled(core);
  await page.emulateMedia({ forcedColors: "active", reducedMotion: "reduce" });
  await page.goto(core.address);
  for (const show of Object.values(SCREENS)) {
    await show(page);
    await sound(page);
  }
  // The current entry of the rail and of the causes looks unlike its neighbours without its ground.
  await by(page, "nav-reports").click();
  const look = (id: string) =>
    by(page, id).evaluate((element) => {
      const { backgroundColor, borderColor, borderStyle, outlineStyle, textDecorationLine, color } =
        getComputedStyle(element);
      return [backgroundColor, borderColor, borderStyle, outlineStyle, textDecorationLine, color].join(" ");
    });
  expect(await look("nav-reports")).not.toBe(await look("nav-overview"));
  for (const pressed of ["report-row", "nav-reports"]) {
    await by(page, pressed).first().click();
    expect(
      await by(page, pressed)
        .first()
        .evaluate((element) => getComputedStyle(element).outlineStyle),
    ).toBe("solid");
  }
  // So does each switch.
  await by(page, "nav-settings").click();
  const [on, off] = await page.getByRole("switch").evaluateAll((all) => {
    const track = (isOn: boolean) =>
      all
        .find((one) => (one as HTMLInputElement).checked === isOn)
        ?.closest("label")
        ?.querySelector("span[aria-hidden]");
    return [true, false].map((isOn) => {
      const element = track(isOn);
      return element && getComputedStyle(element).backgroundColor;
    });
  });
  expect(on).toBeTruthy();
  expect(on).not.toBe(off);
});

test("beside an open report the status, the place and the time left of each row are whole, in every language", async ({
  window,
  core,
}) => {
  await filled(core);
  // One is in doubt and one waits: their words are the longest.
  await core.call("set_paused", { paused: true });
  await core.send(core.copies("covid", 2));
  for (const language of ["en", "de", "fr", "it"]) {
    const preferences = await core.call("preferences");
    await core.call("set_preferences", { preferences: { ...preferences, language } });
    await window.reload();
    await window.getByTestId("nav-reports").click();
    await window.getByTestId("report-row").first().click();
    await expect(window.getByTestId("detail-state")).toBeVisible();
    await expect(window.getByTestId("report-row").getByTestId("deadline").first()).toBeVisible();
    const cut = await window.evaluate(() => {
      const facts = document.querySelectorAll('[data-testid="report-row"] [data-facts] *');
      return [...facts]
        .filter((one) => one.scrollWidth > one.clientWidth + 1 && one.clientWidth > 0)
        .map((one) => one.textContent);
    });
    expect(cut, language).toEqual([]);
  }
});
