// Pictures of every screen in every language and theme, for looking at them side by side: `npm run screenshots`, after
// `npm run build:mock`. PICTURES names the folder, which gets one page, `index.html`; LANGUAGES="de fr" takes these languages
// alone, and ONLY="reports, settings" these screens.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { SCREENS, by } from "./screens";
import { still, test } from "./window";

const FOLDER = process.env.PICTURES ?? "../target/pictures";
const LANGUAGES = (process.env.LANGUAGES ?? "en de fr it").split(" ");
const ONLY = process.env.ONLY?.split(",").map((name) => name.trim());
const STYLE = "body{display:flex;flex-wrap:wrap;gap:1rem;font:14px sans-serif}figure{margin:0}";

const wanted = Object.entries(SCREENS).filter(([name]) => ONLY === undefined || ONLY.includes(name));
const pictures = wanted.flatMap(([name, screen]) =>
  LANGUAGES.flatMap((language) =>
    ["light", "dark"].map((theme) => {
      const file = `${name.replaceAll(" ", "-")}.${language}.${theme}.png`;
      return { name, screen, language, theme, file };
    }),
  ),
);

for (const { name, screen, language, theme, file } of pictures) {
  test(`${name}, ${language}, ${theme}`, async ({ open }) => {
    const page = await open({ language, theme, ...screen.query });
    if (screen.names) await by(page, "reveal-names").click();
    await screen.do?.(page);
    await still(page);
    await page.screenshot({ path: join(FOLDER, file) });
  });
}

test("one page shows them all", () => {
  const cells = pictures.map(
    ({ name, language, theme, file }) =>
      `<figure><img src="${file}" alt="" width="640"><figcaption>${name}, ${language}, ${theme}</figcaption></figure>`,
  );
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(join(FOLDER, "index.html"), `<!doctype html><style>${STYLE}</style>${cells.join("\n")}`);
});
