// Every screen in every language, light and dark, wide and small: axe, the content security policy of the product, and nothing
// that overflows. A page is opened once for a language and looked at in each of its looks; dialogs, whose words are few, in
// two languages each.

import { DIALOGS } from "./dialogs";
import { SCREENS, by } from "./screens";
import type { Screen } from "./screens";
import { SIZES, expect, looking, sound, test } from "./window";

type Look = [theme: "light" | "dark", size: keyof typeof SIZES];

const BOTH: [Look, ...Look[]] = [
  ["light", "small"],
  ["dark", "wide"],
];
const LOOKS: Record<string, [Look, ...Look[]]> = {
  en: [
    ["light", "wide"],
    ["dark", "small"],
  ],
  de: BOTH,
  fr: [["light", "small"]],
  it: [["dark", "small"]],
};
/** Besides German, by turns. */
const OTHERS = ["fr", "it", "en"];

function looks(name: string, screen: Screen, language: string) {
  const [first, ...others] = LOOKS[language] ?? BOTH;
  test(`${name}, ${language}, ${[first, ...others].map((look) => look.join(" ")).join(", ")}`, async ({ open }) => {
    const [theme, size] = first;
    const page = await open({ language, theme, ...screen.query }, SIZES[size]);
    if (screen.names) await by(page, "reveal-names").click();
    await screen.do?.(page);
    await sound(page, name);
    for (const [next, wide] of others) {
      await looking(page, next, SIZES[wide]);
      await sound(page, `${name}, ${next}`);
    }
  });
}

for (const language of Object.keys(LOOKS))
  for (const [name, screen] of Object.entries(SCREENS)) looks(name, screen, language);

for (const [at, [name, screen]] of Object.entries(DIALOGS).entries())
  for (const language of ["de", OTHERS[at % OTHERS.length] ?? "fr"]) looks(name, screen, language);

test("every screen at 320 pixels", async ({ open }) => {
  const page = await open({}, { width: 320, height: 640 });
  for (const screen of ["send", "reports", "correct", "overview", "ask", "certificate", "settings"]) {
    await by(page, `nav-${screen}`).click();
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
