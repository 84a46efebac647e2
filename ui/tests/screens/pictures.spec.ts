// Pictures of every screen and dialog in every language and theme, for looking at them side by side: `npm run screenshots`, after
// `npm run build:mock`. PICTURES names the folder, which gets one page, `index.html`; LANGUAGES="de fr" takes these languages
// alone, and ONLY="reports, dialogs" these screens; `dialogs` are all dialogs that are not among the screens.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { DIALOGS } from "./dialogs";
import { SCREENS, by } from "./screens";
import { SIZES, looking, still, test } from "./window";

const FOLDER = process.env.PICTURES ?? "../target/pictures";
const LANGUAGES = (process.env.LANGUAGES ?? "en de fr it").split(" ");
const ONLY = process.env.ONLY?.split(",").map((name) => name.trim());
const STYLE = "body{display:flex;flex-wrap:wrap;gap:1rem;font:14px sans-serif}figure{margin:0}";

const THEMES = ["light", "dark"];

const wanted = Object.entries({ ...SCREENS, ...DIALOGS }).filter(
  ([name]) => ONLY === undefined || ONLY.includes(name) || (name in DIALOGS && ONLY.includes("dialogs")),
);
const fileOf = (name: string, language: string, theme: string) =>
  `${name.replaceAll(" ", "-")}.${language}.${theme}.png`;

for (const [name, screen] of wanted) {
  for (const language of LANGUAGES) {
    test(`${name}, ${language}`, async ({ open }) => {
      const page = await open({ language, ...screen.query });
      if (screen.names) await by(page, "reveal-names").click();
      await screen.do?.(page);
      for (const theme of THEMES) {
        await looking(page, theme, SIZES.wide);
        await still(page);
        await page.screenshot({ path: join(FOLDER, fileOf(name, language, theme)) });
      }
    });
  }
}

test("one page shows them all", () => {
  const cells = wanted.flatMap(([name]) =>
    LANGUAGES.flatMap((language) =>
      THEMES.map((theme) => {
        const file = fileOf(name, language, theme);
        return `<figure><img src="${file}" alt="" width="640"><figcaption>${name}, ${language}, ${theme}</figcaption></figure>`;
      }),
    ),
  );
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(join(FOLDER, "index.html"), `<!doctype html><style>${STYLE}</style>${cells.join("\n")}`);
});
