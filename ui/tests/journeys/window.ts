// A window of its own for each journey: the built page in Chromium, the real core and the practice authority.

import { spawn } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

import { test as base } from "@playwright/test";
import type { Page } from "@playwright/test";

import type { Commands } from "../../src/bridge/door";

export { expect } from "@playwright/test";

const UI = fileURLToPath(new URL("../..", import.meta.url));
const TARGET = process.env.CARGO_TARGET_DIR ?? join(UI, "../target");

export interface Core {
  /** Where the page is served. */
  address: string;
  /** A folder for files of the journey; it is removed afterwards. */
  folder: string;
  /** Asks the core as the page does. */
  call<C extends keyof Commands>(command: C, takes?: Commands[C]["takes"]): Promise<Commands[C]["gives"]>;
  /** Drops files on the window. */
  drop(paths: string[]): Promise<void>;
  /** Says what the next file dialog answers. */
  choose(paths: string[]): Promise<void>;
  /** A file with this content. */
  write(name: string, content: string): string;
  /** A copy of a sample report of practice, by a part of its name. */
  sample(name: string): string;
  /** As many copies of a sample, each with an identifier of its own. */
  copies(name: string, count: number, change?: (content: string, at: number) => string): string[];
}

interface Options {
  /** Seconds in which sending can be undone; journeys that are not about it wait for the shortest. */
  undoSeconds: number;
  language: string;
  theme: string;
  /** Whether the welcome is behind us. */
  welcomed: boolean;
}

export const test = base.extend<Options & { core: Core; window: Page }>({
  undoSeconds: [1, { option: true }],
  language: ["en", { option: true }],
  theme: ["light", { option: true }],
  welcomed: [true, { option: true }],

  core: async ({ undoSeconds, language, theme, welcomed }, use) => {
    const folder = mkdtempSync(join(tmpdir(), "window-"));
    const host = spawn(join(TARGET, "debug/window-host"), [join(folder, "home"), join(UI, "dist")], {
      stdio: ["pipe", "pipe", "inherit"],
      env: { ...process.env, TZ: "Europe/Zurich" },
    });
    const line = await new Promise<string>((said, failed) => {
      createInterface(host.stdout).once("line", said);
      host.once("exit", (code) => failed(new Error(`window-host ended with ${code}: run \`cargo build --workspace\``)));
      host.once("error", failed);
    });
    const core = coreAt(line.replace("listening on ", ""), folder);
    const preferences = await core.call("preferences");
    await core.call("set_preferences", {
      preferences: { ...preferences, undoSeconds, language, theme, firstRunDone: welcomed },
    });
    await use(core);
    host.stdin.end();
    await new Promise((ended) => host.once("exit", ended));
    rmSync(folder, { recursive: true, force: true });
  },

  window: async ({ page, core }, use) => {
    const noise: string[] = [];
    page.on("pageerror", (error) => noise.push(error.message));
    page.on("console", (said) => {
      if (["error", "warning"].includes(said.type()) && !said.text().includes("400 (Bad Request)")) noise.push(said.text());
    });
    await page.goto(core.address);
    await page.locator("main").waitFor();
    await use(page);
    await page.close();
    if (noise.length > 0) throw new Error(`the page said: ${noise.join("\n")}`);
  },
});

function coreAt(address: string, folder: string): Core {
  const post = (path: string, body: unknown) => fetch(`${address}${path}`, { method: "POST", body: JSON.stringify(body) });
  const write = (name: string, content: string) => {
    mkdirSync(join(folder, "files"), { recursive: true });
    const path = join(folder, "files", name);
    writeFileSync(path, content);
    return path;
  };
  const sample = (name: string) => {
    const samples = join(folder, "home/practice/samples");
    const found = readdirSync(samples).find((file) => file.includes(name));
    if (!found) throw new Error(`no sample ${name} in ${readdirSync(samples).join(", ")}`);
    return join(samples, found);
  };
  return {
    address,
    folder,
    write,
    async call(command, takes) {
      // Files that a test names were handed over by it, as a person does by a drop.
      const { paths } = (takes ?? {}) as { paths?: string[] };
      if (paths) await post("/host/grant", paths);
      const answer = await post(`/call/${command}`, takes ?? {});
      const given = await answer.json();
      if (!answer.ok) throw new Error(`${command}: ${JSON.stringify(given)}`);
      return given;
    },
    drop: async (paths) => void (await post("/host/drop", paths)),
    choose: async (paths) => void (await post("/host/choose", paths)),
    sample(name) {
      const from = sample(name);
      const to = write(from.split("/").at(-1) ?? name, "");
      copyFileSync(from, to);
      return to;
    },
    copies(name, count, change = (content) => content) {
      const content = readFileSync(sample(name), "utf8");
      // The first of a sample is that of its document; the Composition has the same.
      const identifier = /urn:uuid:[0-9a-f-]{36}/.exec(content)?.[0] ?? "";
      return Array.from({ length: count }, (_, at) => {
        const own = content.replaceAll(identifier, identifier.slice(0, -6) + String(100_000 + at));
        return write(`${name}-${String(at + 1).padStart(3, "0")}.json`, change(own, at));
      });
    },
  };
}
