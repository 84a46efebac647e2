// How long content is kept, and a backup in the journal's place: in the window, against the real core and an authority.

import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import type { Page } from "@playwright/test";

import { PASSPHRASE, laboratory } from "./laboratory";
import { UI, expect, running, sound, test } from "./window";
import type { Core } from "./window";

test.use({ keychain: false });

/** A laboratory in use whose first report is completed, and in a backup. */
async function backedUp(window: Page, core: Core) {
  await laboratory(core, "Pilot");
  await core.call("use_endpoint", { name: "Pilot" });
  await core.send([core.sample("covid")]);
  await completed(core, 1);
  await core.call("back_up");
  await window.getByTestId("nav-settings").click();
}

const completed = (core: Core, count: number) =>
  expect.poll(async () => (await core.call("status")).counts.completed).toBe(count);

const EVERYTHING = { identifier: null, status: null, from: null, until: null, report: null };

/** How many reports the authority has. */
const accepted = async (core: Core) => (await core.call("ask_authority", { query: EVERYTHING, reveal: false })).total;

/** Opens the dialog and chooses the newest backup. */
async function chosen(window: Page) {
  await window.getByTestId("restore").click();
  const dialog = window.getByRole("dialog");
  await dialog.getByTestId("restore-which").click();
  await window.getByRole("option").first().click();
  await expect(dialog.getByTestId("restore-plan")).toBeVisible();
  return dialog;
}

test("how long content is kept is changed after a person has read what that erases", async ({ window, core }) => {
  await backedUp(window, core);
  const kept = window.getByTestId("retention-kept");
  await expect(kept).toHaveText("The content of finished reports is kept for good.");
  const choose = async (days: string) => {
    await window.getByTestId("retention-days").click();
    await window.getByRole("option", { name: days, exact: true }).click();
  };
  await choose("90 days");
  const dialog = window.getByRole("dialog");
  await expect(dialog.getByTestId("retention-plan")).toContainText("No finished report is older than");
  await expect(dialog).toContainText("It cannot be undone.");
  await sound(window);
  // The keyboard is on the way back, as before all that cannot be undone.
  await expect(dialog.getByRole("button", { name: "Cancel" })).toBeFocused();
  await window.keyboard.press("Enter");
  await expect(dialog).toHaveCount(0);
  expect((await core.call("safekeeping"))?.retentionDays).toBeNull();
  await choose("90 days");
  await dialog.getByTestId("retention-confirm").click();
  await expect(kept).toHaveText("The content of finished reports is erased after 90 days; what proves them stays.");
  expect((await core.call("safekeeping"))?.retentionDays).toBe(90);
  await sound(window);
  await choose("For good");
  await expect(kept).toHaveText("The content of finished reports is kept for good.");
  expect((await core.call("safekeeping"))?.retentionDays).toBeNull();

  // Where administrators have a passphrase, it guards both.
  await core.call("set_administration_passphrase", { current: "", passphrase: "zwinglicanary" });
  await core.call("close_administration");
  // The page is not told of what it has not asked for itself.
  await window.reload();
  await window.getByTestId("nav-settings").click();
  await expect(window.getByTestId("retention-days")).toBeDisabled();
  await expect(window.getByTestId("restore")).toBeDisabled();
});

test("a backup is restored in the running window, and nothing is sent twice", async ({ window, core }) => {
  await backedUp(window, core);
  await core.send([core.sample("malaria")]);
  await completed(core, 2);
  const dialog = await chosen(window);
  await expect(dialog.getByTestId("restore-plan")).toContainText("1 report was taken in since this backup was made.");
  await expect(dialog.getByTestId("restore-plan")).toContainText("Nothing is sent twice");
  const confirm = dialog.getByTestId("restore-confirm");
  await expect(confirm).toBeDisabled();
  await sound(window);
  const passphrase = dialog.getByTestId("restore-passphrase");
  const word = dialog.getByTestId("restore-word");
  await word.fill("restore");
  await expect(confirm).toBeDisabled();

  // A slip of the passphrase closes nothing.
  await passphrase.fill("korrekt pferd batterien");
  await confirm.click();
  await expect(dialog.getByRole("alert")).toContainText("passphrase");
  expect((await core.call("status")).counts.completed).toBe(2);
  await expect(passphrase).toHaveValue("");

  // Without a mouse.
  await passphrase.fill(PASSPHRASE);
  await word.press("Enter");
  const done = window.getByTestId("restore-done");
  await expect(done).toContainText("It held 1 report.");
  await expect(done).toContainText("1 report that was taken in since was carried over.");
  await expect(dialog.getByRole("status")).toContainText(/The backup of .* is in use/);
  await expect(dialog.getByTestId("restore-told")).toBeFocused();
  await sound(window);
  await window.keyboard.press("Tab");
  await expect(dialog.getByTestId("restore-close")).toBeFocused();
  await window.keyboard.press("Enter");
  await expect(window.getByRole("dialog")).toHaveCount(0);
  await expect(window.getByTestId("restore")).toBeFocused();
  await expect(window.getByTestId("set-aside")).toHaveCount(1);
  await sound(window);

  // The room is open again, with all that it had, and each report is at the authority once.
  await completed(core, 2);
  expect((await core.call("status")).environment).toBe("integration");
  expect(await accepted(core)).toBe(2);
  await window.getByTestId("nav-reports").click();
  await expect(window.getByTestId("report-row")).toHaveCount(2);
});

test("where labcourier watch has the journal the window says so and changes nothing", async ({ window, core }) => {
  // Somebody else's hold is waited for first.
  test.slow();
  await backedUp(window, core);
  const out = join(core.folder, "out");
  mkdirSync(out);
  const file = core.write("passphrase", PASSPHRASE);
  chmodSync(file, 0o600);
  const labcourier = join(process.env.CARGO_TARGET_DIR ?? join(UI, "../target"), "debug/labcourier");
  const profile = ["--profile", join(core.folder, "home/laboratory"), "--passphrase-file", file];
  // What it says of a file shows that it has the journal open.
  const content = readFileSync(core.sample("malaria"));
  writeFileSync(join(out, "one.json"), content);
  const watch = await running(labcourier, ["watch", out, "--json", ...profile]);
  const dialog = await chosen(window);
  await dialog.getByTestId("restore-passphrase").fill(PASSPHRASE);
  await dialog.getByTestId("restore-word").fill("restore");
  await dialog.getByTestId("restore-confirm").click();
  await expect(dialog.getByTestId("restore-running")).toBeVisible();
  // It cannot be closed before it is known what became of the journal.
  await window.keyboard.press("Escape");
  await expect(dialog.getByRole("alert")).toContainText("The journal is in use, and nothing was changed");
  await sound(window);
  await dialog.getByRole("button", { name: "Cancel" }).click();
  await expect(window.getByTestId("set-aside")).toHaveCount(0);
  await completed(core, 2);
  expect((await core.call("status")).environment).toBe("integration");
  await watch.end("SIGTERM");
});
