// To production only with a certificate and after a test of the connection that passed.

import { readFileSync } from "node:fs";

import { laboratory } from "./laboratory";
import { expect, sound, test } from "./window";

test.use({ keychain: false });

test("before production what is missing is offered: the certificate, then a green test", async ({ window, core }) => {
  const made = await laboratory(core, "Pilot");
  const input = {
    name: "FOPH",
    baseUrl: made.base,
    environment: "production" as const,
    release: null,
    language: null,
    proxy: null,
  };
  await core.call("add_endpoint", { input: { ...input, caPem: readFileSync(made.ca, "utf8") } });
  // The only certificate was taken for it as well.
  const [only] = await core.call("certificates");
  await core.call("remove_certificate", { fingerprint: only?.fingerprint ?? "", although_needed: true });
  await window.getByTestId("nav-settings").click();
  const use = window
    .getByRole("listitem")
    .filter({ hasText: "FOPH" })
    .getByRole("button", { name: "Use", exact: true });
  await use.click();
  const dialog = window.getByRole("dialog");
  await expect(dialog).toContainText("No certificate is used for FOPH yet");
  await sound(window);
  await dialog.getByTestId("production-certificate").click();
  await expect(window.getByTestId("certificate-import")).toBeVisible();
  await core.call("certificate_import", { paths: [made.p12], password: made.password, endpoint: "FOPH" });

  await window.getByTestId("nav-settings").click();
  await use.click();
  // The test begins by itself.
  await expect(dialog).toContainText("The connection works: every step passed");
  await expect(window.getByTestId("production-confirm")).toBeDisabled();
  await window.getByTestId("production-word").fill("production");
  await window.keyboard.press("Enter");
  await expect.poll(async () => (await core.call("status")).environment).toBe("production");
  // What is not for practice needs no bar that says so.
  await expect(window.getByTestId("environment-bar")).toHaveCount(0);
  await expect(window).toHaveTitle("Lab Courier");
});

test("nobody switches to production before a test has passed, and what to do until then is said", async ({
  window,
  core,
}) => {
  const made = await laboratory(core, "Pilot");
  const input = { name: "FOPH", environment: "production" as const, release: null, language: null, proxy: null };
  const away = made.base.replace(/:\d+/, ":1");
  await core.call("add_endpoint", { input: { ...input, baseUrl: away, caPem: readFileSync(made.ca, "utf8") } });
  await window.getByTestId("nav-settings").click();
  const one = window.getByRole("listitem").filter({ hasText: "FOPH" });
  await one.getByRole("button", { name: "Use", exact: true }).click();
  const [dialog, confirm] = [window.getByRole("dialog"), window.getByTestId("production-confirm")];
  const failed = dialog.getByTestId("production-failed");
  await expect(failed).toContainText("You can switch to FOPH once every step has passed.");
  await expect(failed.getByRole("button", { name: "Copy for IT" })).toBeVisible();
  await window.getByTestId("production-word").fill("production");
  await expect(confirm).toBeDisabled();
  await window.getByTestId("production-word").press("Enter");
  await sound(window);
  await expect(core.call("use_endpoint", { name: "FOPH" })).rejects.toThrow("production-untested");
  // The authority is back: one more test is one click.
  await core.call("set_endpoint_address", { name: "FOPH", base_url: made.base, same_authority: false });
  await dialog.getByTestId("production-test").click();
  await expect(dialog).toContainText("The connection works: every step passed");
  await confirm.click();
  await expect.poll(async () => (await core.call("status")).environment).toBe("production");

  // Whoever has reports there comes back to them, also while the authority cannot be reached.
  await core.send([core.sample("covid")]);
  await core.call("use_endpoint", { name: "practice" });
  await made.end();
  await window.reload();
  await window.getByTestId("nav-settings").click();
  await one.getByRole("button", { name: "Use", exact: true }).click();
  await expect(failed).toContainText("You can switch all the same");
  await window.getByTestId("production-word").fill("production");
  await confirm.click();
  await expect.poll(async () => (await core.call("status")).environment).toBe("production");
});
