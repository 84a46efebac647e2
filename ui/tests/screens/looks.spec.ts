// Every screen in every language, light and dark, wide and small: axe, the content security policy of the product, and nothing
// that overflows. Each is opened once and then looked at in all its looks, as when somebody changes the settings; dialogs, whose
// words are few, in two languages each.

import { DIALOGS } from "./dialogs";
import { SCREENS, by, detail } from "./screens";
import type { Screen } from "./screens";
import { SIZES, expect, looking, sound, speaking, test } from "./window";

type Look = [language: string, theme: "light" | "dark", size: keyof typeof SIZES];

const GERMAN: Look[] = [
  ["de", "light", "small"],
  ["de", "dark", "wide"],
];
const ALL: Look[] = [
  ["en", "light", "wide"],
  ["en", "dark", "small"],
  ...GERMAN,
  ["fr", "light", "small"],
  ["it", "dark", "small"],
];
/** Besides German, by turns. */
const OTHERS = ["fr", "it", "en"];

/** What is open above the page; a message that goes by itself would be looked at in its first look only. */
const ABOVE = '[role="dialog"], [role="alertdialog"], [role="menu"], [role="listbox"], [role="alert"]';

function looks(name: string, screen: Screen, all: Look[]) {
  test(`${name}, ${all.map((look) => look.join(" ")).join(", ")}`, async ({ open }) => {
    const [language, theme, size] = all[0] ?? ["en", "light", "wide"];
    const page = await open({ language, theme, ...screen.query }, SIZES[size]);
    if (screen.names) await by(page, "reveal-names").click();
    await screen.do?.(page);
    const above = await page.locator(ABOVE).count();
    for (const [words, looked, wide] of all) {
      await speaking(page, words);
      await looking(page, looked, SIZES[wide]);
      await sound(page, `${name}, ${words}, ${looked}`);
      expect(await page.locator(ABOVE).count(), `${name}, ${words}: what is above the page`).toBe(above);
    }
  });
}

for (const [name, screen] of Object.entries(SCREENS)) looks(name, screen, ALL);

for (const [at, [name, screen]] of Object.entries(DIALOGS).entries()) {
  const other = OTHERS[at % OTHERS.length] ?? "fr";
  looks(name, screen, [...GERMAN, ...ALL.filter(([language]) => language === other)]);
}

test("every screen at 320 pixels", async ({ open }) => {
  const page = await open({}, { width: 320, height: 640 });
  for (const screen of ["send", "reports", "correct", "overview", "ask", "certificate", "settings"]) {
    await by(page, `nav-${screen}`).click();
    await sound(page, screen);
  }
});

test("notices leave the way to every screen free at 320 pixels", async ({ open }) => {
  const page = await open({ watched: "1", recovered: "1", elsewhere: "1" }, { width: 320, height: 640 });
  for (const screen of ["send", "reports", "correct", "overview", "ask", "certificate", "settings"]) {
    await by(page, `nav-${screen}`).click();
    await by(page, `nav-${screen}`).click({ trial: true });
    await sound(page, screen);
  }
});

for (const language of ["de", "fr", "it"]) {
  test(`what is shortened is told in full under the pointer, ${language}`, async ({ open }) => {
    for (const name of ["reports", "detail with names", "to correct", "candidates"]) {
      const page = await open({ language }, SIZES.small);
      if (SCREENS[name]?.names) await by(page, "reveal-names").click();
      await SCREENS[name]?.do?.(page);
      const untold = await page.evaluate(() =>
        [...document.querySelectorAll<HTMLElement>("main *")]
          .filter((element) => getComputedStyle(element).textOverflow === "ellipsis")
          .filter((element) => element.scrollWidth > element.clientWidth + 1 && !element.closest("[title]"))
          .map((element) => element.innerText),
      );
      expect(untold, name).toEqual([]);
    }
  });
}

for (const [what, size, percent] of [
  ["at 320 pixels", { width: 320, height: 640 }, 100],
  ["with text of 200 %", { width: 900, height: 650 }, 200],
  ["at 320 pixels with text of 200 %", { width: 320, height: 640 }, 200],
] as const) {
  test(`${what} statement, chart and correction have room`, async ({ open }) => {
    const page = await open({ language: "de" }, size);
    await page.evaluate((to) => {
      document.documentElement.style.fontSize = `${to}%`;
    }, percent);
    const em = 16 * (percent / 100);

    await by(page, "nav-overview").click();
    const periods = by(page, "periods");
    await expect(periods).toBeInViewport({ ratio: 1, timeout: 5_000 });
    expect(await periods.evaluate((all) => all.scrollWidth - all.clientWidth)).toBeLessThanOrEqual(0);
    const labels = by(page, "chart").locator("li > span");
    const boxes = await labels.evaluateAll((all) =>
      all
        .filter((one) => one.textContent && one.checkVisibility({ visibilityProperty: true }))
        .map((one) => {
          const range = document.createRange();
          range.selectNodeContents(one);
          return range.getBoundingClientRect();
        }),
    );
    expect(boxes.length).toBeGreaterThan(2);
    boxes.slice(1).forEach((box, at) => expect(box.left).toBeGreaterThanOrEqual(boxes[at]?.right ?? 0));

    await by(page, "statement-open").click();
    const value = by(page, "statement").first().locator("dd").first();
    expect((await value.boundingBox())?.width).toBeGreaterThan(Math.min(8 * em, 0.5 * size.width));
    const dialog = await page.getByRole("dialog").boundingBox();
    const close = await page.getByRole("dialog").locator("header button").boundingBox();
    expect((close?.x ?? 0) + (close?.width ?? 0)).toBeLessThanOrEqual((dialog?.x ?? 0) + (dialog?.width ?? 0));
    await page.keyboard.press("Escape");

    await by(page, "reveal-names").click();
    await detail(page, "failed");
    await by(page, "action-correct").click();
    await by(page, "findings-sum").waitFor();
    // The form is no strip that scrolls by itself, and the value in question is in sight.
    const strip = await by(page, "findings-sum").evaluate((sum) => {
      const aside = sum.closest("section") as HTMLElement;
      return aside.scrollHeight - aside.clientHeight;
    });
    expect(strip).toBeLessThanOrEqual(1);
    await expect(page.getByRole("dialog").locator("input:focus")).toBeInViewport({ ratio: 1 });
    await sound(page, what);
  });
}
