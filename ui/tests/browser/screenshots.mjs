// Pictures of every screen in every language and theme, for looking at them side by side.
// `npm run screenshots -- FOLDER [LANGUAGE…]`, after `npm run build:mock`. Each folder gets one page, `index.html`.
// ONLY="reports, settings" in the environment takes these screens alone.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { chromium } from "playwright-core";
import { preview } from "vite";

import { SCREENS, by } from "./screens.mjs";

const [folder, ...asked] = process.argv.slice(2);
if (!folder) throw new Error("say where the pictures go: npm run screenshots -- FOLDER [LANGUAGE…]");
const languages = asked.length > 0 ? asked : ["en", "de", "fr", "it"];
const themes = ["light", "dark"];

const server = await preview({ mode: "mock", build: { outDir: "dist-mock" }, preview: { port: 0, host: "127.0.0.1" } });
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu", "--disable-software-rasterizer", "--disable-dev-shm-usage", "--disable-background-networking"],
});
mkdirSync(folder, { recursive: true });
const cells = [];
const only = process.env.ONLY?.split(",").map((name) => name.trim());
for (const [name, screen] of Object.entries(SCREENS)) {
  if (only && !only.includes(name)) continue;
  for (const language of languages) {
    for (const theme of themes) {
      const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
      page.setDefaultTimeout(60_000);
      const query = new URLSearchParams({ language, theme, ...screen.query });
      await page.goto(`${server.resolvedUrls.local[0]}?${query}`);
      await page.locator("main").waitFor();
      if (screen.names) await by(page, "reveal-names").click();
      await screen.do?.(page);
      await page.evaluate(() => Promise.all(document.getAnimations().map((one) => one.finished.catch(() => null))));
      const file = `${name.replaceAll(" ", "-")}.${language}.${theme}.png`;
      await page.screenshot({ path: join(folder, file) });
      cells.push(`<figure><img src="${file}" alt="" width="640"><figcaption>${name}, ${language}, ${theme}</figcaption></figure>`);
      await page.close();
    }
  }
  console.log(name);
}
const style = "body{display:flex;flex-wrap:wrap;gap:1rem;font:14px sans-serif}figure{margin:0}";
writeFileSync(join(folder, "index.html"), `<!doctype html><style>${style}</style>${cells.join("\n")}`);
await browser.close();
await server.close();
