// Every screen in every language, light and dark, wide and small: axe, the content security policy of the product, and nothing
// that overflows.

import { SCREENS, by } from "./screens";
import { SIZES, expect, sound, test } from "./window";

const LOOKS: [string, string, keyof typeof SIZES][] = [
  ["en", "light", "wide"],
  ["en", "dark", "small"],
  ["de", "light", "small"],
  ["de", "dark", "wide"],
  ["fr", "light", "small"],
  ["it", "dark", "small"],
];

for (const [language, theme, size] of LOOKS) {
  for (const [name, screen] of Object.entries(SCREENS)) {
    test(`${name}, ${language}, ${theme}, ${size}`, async ({ open }) => {
      const page = await open({ language, theme, ...screen.query }, SIZES[size]);
      if (screen.names) await by(page, "reveal-names").click();
      await screen.do?.(page);
      await sound(page, name);
    });
  }
}

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
