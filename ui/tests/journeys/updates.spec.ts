// A newer version of the program: offered by its signature, refused without, and installed by nobody who was not asked.

import { createHash, generateKeyPairSync, randomBytes, sign } from "node:crypto";
import { createServer } from "node:http";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { LANGUAGES } from "../../src/i18n/text";
import { expect, sound, test } from "./window";
import type { Core } from "./window";

const FILE = Buffer.from("a package of a newer version");
const PLATFORMS = ["linux-x86_64", "linux-aarch64"].flatMap((name) => [
  name,
  `${name}-deb`,
  `${name}-rpm`,
  `${name}-appimage`,
]);

/** A server on this computer with a key of its own, as minisign makes them. */
async function release(core: Core) {
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  const id = randomBytes(8);
  const raw = publicKey.export({ format: "der", type: "spki" }).subarray(-32);
  const comment = "file:lab-courier.deb\tversion:9.0.0";
  const signature = sign(null, createHash("blake2b512").update(FILE).digest(), privateKey);
  const all = sign(null, Buffer.concat([signature, Buffer.from(comment)]), privateKey);
  const line = Buffer.concat([Buffer.from("ED"), id, signature]).toString("base64");
  const signed = `untrusted comment: made by a journey\n${line}\ntrusted comment: ${comment}\n${all.toString("base64")}\n`;
  const given = { file: FILE, asked: [] as string[] };
  const server = createServer((request, response) => {
    given.asked.push(`${request.method} ${request.url} ${JSON.stringify(request.headers)}`);
    if (request.url !== "/latest.json") return response.end(given.file);
    const of = { url: `http://${request.headers.host}/lab-courier.deb`, signature: signed };
    return response.end(
      JSON.stringify({ version: "9.0.0", platforms: Object.fromEntries(PLATFORMS.map((name) => [name, of])) }),
    );
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  core.atEnd.push(() => new Promise<void>((over) => void server.close(() => over())));
  const { port } = server.address() as { port: number };
  const key = Buffer.concat([Buffer.from("Ed"), id, raw]).toString("base64");
  return { given, setting: { address: `http://127.0.0.1:${port}/latest.json`, key } };
}

test("a newer version is offered by its signature, and refused when the file is another one", async ({
  window,
  core,
}) => {
  const file = join(core.folder, "home/updates.json");
  const { given, setting } = await release(core);
  await window.getByTestId("nav-settings").click();
  const state = window.getByTestId("updates-state");
  // Nobody has said whom to ask: nothing is asked, and the settings say so.
  await expect(state).toContainText("Not set up");
  await expect(window.getByTestId("updates-look")).toHaveCount(0);

  writeFileSync(file, JSON.stringify(setting));
  await window.reload();
  await window.getByTestId("nav-settings").click();
  await expect(state).toHaveAttribute("data-state", "unasked");
  expect(given.asked).toEqual([]);
  given.file = Buffer.from("a package of somebody else's");
  await window.getByTestId("updates-look").click();
  await expect(state).toContainText("The signature of the new version is wrong");
  await expect(window.getByTestId("update-line")).toHaveCount(0);
  await sound(window);

  given.file = FILE;
  await window.getByTestId("updates-look").click();
  await expect(window.getByTestId("update-ready")).toContainText("Version 9.0.0 is ready");
  await expect(window.getByTestId("update-line")).toBeVisible();
  await sound(window);
  // What the server was told: nothing but what is wanted.
  for (const one of given.asked)
    expect(one).toMatch(
      /^GET \/(latest\.json|lab-courier\.deb) \{"host":"127\.0\.0\.1:\d+","user-agent":"lab-courier","accept":"\*\/\*","accept-encoding":"identity"\}$/,
    );

  // Nothing is opened before somebody has said so twice.
  const calls: string[] = [];
  window.on("request", (request) => calls.push(new URL(request.url()).pathname));
  await window.getByTestId("nav-send").click();
  await window.getByTestId("update-line").click();
  await window.getByTestId("update-install").click();
  await expect(window.getByRole("dialog")).toContainText("may ask for an administrator");
  await sound(window);
  expect(calls).not.toContain("/call/install_update");
  await window.getByTestId("update-confirm").click();
  await expect(window.getByText("The installer is open")).toBeVisible();
  expect(calls).toContain("/call/install_update");
});

test("administrators switch it off, for the computer and in the settings", async ({ window, core }) => {
  const file = join(core.folder, "home/updates.json");
  const { given, setting } = await release(core);
  const settings = async () => {
    await window.reload();
    await window.getByTestId("nav-settings").click();
  };
  const state = window.getByTestId("updates-state");
  writeFileSync(file, JSON.stringify({ ...setting, look: false }));
  await settings();
  await expect(state).toContainText("The administrators of this computer have switched it off");
  await expect(window.getByRole("switch", { name: "Look for newer versions" })).toHaveCount(0);

  writeFileSync(file, JSON.stringify(setting));
  await core.call("set_administration_passphrase", { current: "", passphrase: "for administrators" });
  await core.call("close_administration");
  await settings();
  const on = window.getByRole("switch", { name: "Look for newer versions" });
  await expect(on).toBeChecked();
  await expect(on).toBeDisabled();
  await core.call("open_administration", { passphrase: "for administrators" });
  await settings();
  await window.locator("label", { has: on }).click();
  await expect(state).toHaveAttribute("data-state", "switched-off");
  await expect(window.getByTestId("updates-look")).toHaveCount(0);
  await core.call("look_for_updates");
  expect(given.asked).toEqual([]);
  rmSync(file);
});

for (const { code } of LANGUAGES) {
  for (const theme of ["light", "dark"] as const) {
    test.describe(`${code} ${theme}`, () => {
      test.use({ language: code, theme });
      test(`says it in ${code}, ${theme}`, async ({ window, core }) => {
        const { given, setting } = await release(core);
        writeFileSync(join(core.folder, "home/updates.json"), JSON.stringify(setting));
        const shown = async (name: string) => {
          await window.reload();
          await window.getByTestId("nav-settings").click();
          await window.getByTestId("updates").scrollIntoViewIfNeeded();
          await sound(window);
          const { PICTURES: pictures } = process.env;
          if (pictures) await window.screenshot({ path: join(pictures, `updates-${name}-${code}-${theme}.png`) });
        };
        given.file = Buffer.from("another");
        await core.call("look_for_updates");
        await shown("refused");
        given.file = FILE;
        await core.call("look_for_updates");
        await shown("ready");
        await window.getByTestId("update-install").click();
        await sound(window);
      });
    });
  }
}
