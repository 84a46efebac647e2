// A window of its own for each journey: the built page in Chromium, the real core and the practice authority.

import { execFileSync, spawn } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

import { expect, test as base } from "@playwright/test";
import type { Locator, Page } from "@playwright/test";

import type { Commands } from "../../src/bridge/door";
import type { Theme } from "../../src/bridge/generated/Theme";
import type { HandedItem } from "../../src/bridge/generated/HandedItem";

export { expect } from "@playwright/test";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
export const UI = fileURLToPath(new URL("../..", import.meta.url));
const TARGET = process.env.CARGO_TARGET_DIR ?? join(UI, "../target");

export interface Core {
  /** Where the page is served. */
  address: string;
  /** A folder for files of the journey; it is removed afterwards. */
  folder: string;
  /** What ends with the journey. */
  atEnd: (() => Promise<void>)[];
  /** Ends the core and starts it again on the same folder; `meanwhile` is what happens to the folder in between. */
  restart(meanwhile?: () => void): Promise<void>;
  /** Asks the core as the page does. */
  call<C extends keyof Commands>(command: C, takes?: Commands[C]["takes"]): Promise<Commands[C]["gives"]>;
  /** Sends all that lies at these paths, or these texts, as the page does. */
  send(items: (string | { name: string; text: string })[]): Promise<{ submissions: (number | null)[] }>;
  /** Drops files on the window. */
  drop(paths: string[]): Promise<void>;
  /** Says what the next file dialog answers. */
  choose(paths: string[]): Promise<void>;
  /** Makes a waiting report one whose answer was lost so many seconds ago; sending has to be paused. */
  doubt(id: number, seconds: number): Promise<void>;
  /** Puts a package of rules to use, in the place of those that practice brings. */
  useRules(file: string): Promise<void>;
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
  theme: Theme;
  /** Whether the welcome is behind us. */
  welcomed: boolean;
  /** Whether the computer may have a keychain; without, it has none for sure. */
  keychain: boolean;
  /** Whether names are shown from the start; a journey that reads or types them asks for that. */
  showsNames: boolean;
}

export const test = base.extend<Options & { core: Core; window: Page; restart: Core["restart"] }>({
  undoSeconds: [1, { option: true }],
  language: ["en", { option: true }],
  theme: ["light", { option: true }],
  welcomed: [true, { option: true }],
  keychain: [true, { option: true }],
  showsNames: [false, { option: true }],

  core: async ({ undoSeconds, language, theme, welcomed, keychain }, use) => {
    const folder = mkdtempSync(join(tmpdir(), "window-"));
    const nobody: Record<string, string> = keychain
      ? {}
      : { DBUS_SESSION_BUS_ADDRESS: `unix:path=${join(folder, "no-bus")}` };
    const begin = () =>
      running(join(TARGET, "debug/window-host"), [join(folder, "home"), join(UI, "dist")], {
        TZ: "Europe/Zurich",
        ...nobody,
      });
    let host = await begin();
    const core = coreAt(host.address, folder);
    core.restart = async (meanwhile) => {
      await host.end();
      meanwhile?.();
      host = await begin();
      core.address = host.address;
    };
    const preferences = await core.call("preferences");
    await core.call("set_preferences", {
      preferences: { ...preferences, undoSeconds, language, theme, firstRunDone: welcomed },
    });
    await use(core);
    await Promise.all(core.atEnd.map((end) => end()));
    await host.end();
    rmSync(folder, { recursive: true, force: true });
  },

  restart: async ({ core, page }, use) => {
    await use(async (meanwhile) => {
      // A page whose core has gone would complain of it.
      await page.goto("about:blank");
      await core.restart(meanwhile);
      await page.goto(core.address);
      await page.locator("main").waitFor();
    });
  },

  window: async ({ page, core, showsNames }, use) => {
    const noise: string[] = [];
    page.on("pageerror", (error) => noise.push(error.message));
    page.on("console", (said) => {
      if (["error", "warning"].includes(said.type()) && !said.text().includes("400 (Bad Request)"))
        noise.push(said.text());
    });
    await page.goto(core.address);
    await page.locator("main").waitFor();
    if (showsNames) await page.getByTestId("reveal-names").click();
    await use(page);
    await page.close();
    if (noise.length > 0) throw new Error(`the page said: ${noise.join("\n")}`);
  },
});

/** Where something stands on the page, once it stands still. */
export async function placeOf(of: Locator): Promise<unknown> {
  let place: unknown;
  await expect
    .poll(async () => {
      const before = place;
      place = await of.boundingBox();
      return JSON.stringify(place) === JSON.stringify(before);
    })
    .toBe(true);
  return place;
}

/** axe finds nothing on the page as it is, and nothing is wider than it. */
export async function sound(page: Page): Promise<void> {
  // Evaluated by the driver: the policy of the page forbids a script element.
  if (!(await page.evaluate(() => "axe" in globalThis))) await page.evaluate(AXE);
  const found = await page.evaluate(async () => {
    const { axe } = globalThis as unknown as {
      axe: { run: (where: Document, how: object) => Promise<{ violations: Violation[] }> };
    };
    interface Violation {
      id: string;
      nodes: { html: string }[];
    }
    const runOnly = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];
    // Every rule is run; what holds need not be told of every element.
    const { violations } = await axe.run(document, { runOnly, resultTypes: ["violations"] });
    return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 140)}`));
  });
  expect(found).toEqual([]);
  expect(await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)).toBeLessThanOrEqual(0);
}

/**
 * Puts another text in place of everything that stands in an editor, as a person does: select all, paste. (`fill` selects
 * what is drawn, and a long text is never drawn whole.)
 */
export async function replaceAll(editor: Locator, text: string): Promise<void> {
  await editor.press("Control+a");
  await editor.evaluate((element, pasted) => {
    const clipboardData = new DataTransfer();
    clipboardData.setData("text/plain", pasted);
    element.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
  }, text);
}

/** Holds back what the page asks of the core by one command, until it is let go. */
export async function heldBack(page: Page, command: keyof Commands): Promise<() => void> {
  let letGo = () => {};
  const held = new Promise<void>((go) => (letGo = go));
  await page.route(`**/call/${command}`, async (route) => {
    await held;
    await route.continue();
  });
  return letGo;
}

/** Starts a program that says where it listens. */
export async function running(program: string, words: string[], env: Record<string, string> = {}) {
  const child = spawn(program, words, { stdio: ["pipe", "pipe", "inherit"], env: { ...process.env, ...env } });
  const line = await new Promise<string>((said, failed) => {
    createInterface(child.stdout).once("line", said);
    child.once("exit", (code) => failed(new Error(`${program} ended with ${code}: run \`cargo build --workspace\``)));
    child.once("error", failed);
  });
  const end = async (signal?: "SIGTERM") => {
    const ended = new Promise((over) => child.once("exit", over));
    child.stdin.end();
    if (signal) child.kill(signal);
    await ended;
  };
  return { address: line.replace("listening on ", ""), end };
}

/** An authority of its own, with a certificate for each laboratory; it ends with the journey. */
export async function authority(core: Core, laboratories = ["riverside"]) {
  const folder = join(mkdtempSync(join(core.folder, "authority-")), "data");
  const program = join(TARGET, "debug/labcourier-authority");
  const named = laboratories.flatMap((name) => ["--laboratory", name]);
  execFileSync(program, ["init", ...named, "--data", folder], { stdio: "ignore" });
  const { address: base, end } = await running(program, ["serve", "--listen", "127.0.0.1:0", "--data", folder]);
  let isOver = false;
  const over = async () => {
    if (!isOver) await end("SIGTERM");
    isOver = true;
  };
  core.atEnd.push(over);
  const passwordOf = (name: string) => readFileSync(join(folder, `pilot/${name}.password`), "utf8").trim();
  const [first = ""] = laboratories;
  return {
    base,
    folder,
    ca: join(folder, "ca.pem"),
    p12: join(folder, `pilot/${first}.p12`),
    p12Of: (name: string) => join(folder, `pilot/${name}.p12`),
    password: passwordOf(first),
    passwordOf,
    end: over,
  };
}

/** The core of another computer of the same laboratory; it ends with the journey. */
export async function anotherCore(core: Core): Promise<Core> {
  const folder = mkdtempSync(join(core.folder, "another-"));
  const nobody = { DBUS_SESSION_BUS_ADDRESS: `unix:path=${join(folder, "no-bus")}` };
  const host = await running(join(TARGET, "debug/window-host"), [join(folder, "home"), join(UI, "dist")], nobody);
  core.atEnd.push(() => host.end());
  return coreAt(host.address, folder);
}

export function coreAt(address: string, folder: string): Core {
  const core: Core = { ...partsOf(() => core.address, folder), address };
  return core;
}

function partsOf(address: () => string, folder: string): Omit<Core, "address"> {
  const post = (path: string, body: unknown) =>
    fetch(`${address()}${path}`, { method: "POST", body: JSON.stringify(body) });
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
    folder,
    atEnd: [],
    restart: async () => undefined,
    write,
    async call(command, takes) {
      // Files that a test names were handed over by it, as a person does by a drop.
      const { paths, items } = (takes ?? {}) as { paths?: string[]; items?: HandedItem[] };
      const named = paths ?? items?.flatMap((item) => ("path" in item ? [item.path] : []));
      if (named) await post("/host/grant", named);
      // As the page does: what names reports says in which room.
      const room = command === "status" ? {} : { room: (await this.call("status")).room };
      const answer = await post(`/call/${command}`, { ...takes, ...room });
      const given = await answer.json();
      if (!answer.ok) throw new Error(`${command}: ${JSON.stringify(given)}`);
      return given;
    },
    async send(items) {
      const { endpointId: endpoint } = await this.call("status");
      const things = items.map((item) => (typeof item === "string" ? { path: item } : item));
      // Whoever writes a journey knows what lies there.
      const view = await this.call("hand_over", {
        items: things,
        again: [],
        corrections: [],
        shown: null,
        left_out: [],
        beside: [],
        separate: false,
        endpoint,
      });
      const problem = view.items.find((item) => item.problem)?.problem;
      if (problem) throw new Error(`hand_over: ${JSON.stringify(problem)}`);
      return { submissions: view.items.flatMap(({ submissions }) => submissions) };
    },
    drop: async (paths) => void (await post("/host/drop", paths)),
    choose: async (paths) => void (await post("/host/choose", paths)),
    async doubt(id, seconds) {
      const answer = await post("/host/doubt", { id, seconds });
      if (!answer.ok) throw new Error(await answer.text());
    },
    async useRules(file) {
      rmSync(join(folder, "home/practice/rules"), { recursive: true, force: true });
      const answer = await post("/host/rules", file);
      if (!answer.ok) throw new Error(`${file}: ${await answer.text()}`);
    },
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
