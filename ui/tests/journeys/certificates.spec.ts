// An authority of the laboratory's own: its address and CA, the certificate for it, on a computer without a keychain.

import { readFileSync } from "node:fs";
import { join } from "node:path";

import { authority, expect, sound, test } from "./window";
import type { Core } from "./window";

test.use({ keychain: false });

/** Adds an authority through the window; its CA comes as a file dropped on the dialog. */
async function added(
  window: import("@playwright/test").Page,
  core: Core,
  name: string,
  made: { base: string; ca: string },
) {
  await window.getByTestId("nav-settings").click();
  await window.getByTestId("add-endpoint").click();
  const dialog = window.getByRole("dialog").first();
  await dialog.getByRole("textbox", { name: "Name" }).fill(name);
  await dialog.getByRole("textbox", { name: "Address" }).fill(made.base);
  await core.drop([made.ca]);
  await expect(window.getByTestId("endpoint-ca")).toContainText("Valid until");
  await window.getByTestId("endpoint-save").click();
  return dialog;
}

test("without a keychain a passphrase protects the keys, and is asked for at the next start", async ({
  window,
  core,
  restart,
}) => {
  const made = await authority(core);
  const dialog = await added(window, core, "Pilot", made);
  await window.getByTestId("vault-choose").click();
  await window.getByTestId("vault-new").fill("korrekt pferd batterie");
  await window.getByTestId("vault-again").fill("korrekt pfert");
  await expect(window.getByTestId("vault-make")).toBeDisabled();
  await expect(window.getByText("This differs from the first one")).toBeVisible();
  await window.getByTestId("vault-again").fill("korrekt pferd batterie");
  await window.getByTestId("vault-make").click();
  // What was being done goes on by itself.
  await expect(dialog).toHaveCount(0);
  await expect(window.getByText("Test system · Version 1.13.1 · own certification authority")).toBeVisible();
  await core.drop([made.p12]);
  await window.getByTestId("certificate-password").fill(made.password);
  // What was typed is hidden, and shown by a press.
  await expect(window.getByTestId("certificate-password")).toHaveAttribute("type", "password");
  await window.getByTestId("password-seen").click();
  await expect(window.getByTestId("certificate-password")).toHaveAttribute("type", "text");
  await window.getByTestId("certificate-password").fill("wrong");
  await window.keyboard.press("Enter");
  await expect(window.getByText("The password is wrong")).toBeVisible();
  await window.getByTestId("certificate-password").fill(made.password);
  await window.keyboard.press("Enter");
  await window.getByTestId("certificate-confirm").click();
  await expect(window.getByTestId("certificate-stored")).toContainText("Used for Pilot.");
  await window.getByRole("button", { name: /^Copy: Serial/ }).click();
  await expect(window.getByText("Copied").first()).toBeAttached();
  await core.call("use_endpoint", { name: "Pilot" });

  await restart();
  await expect(window.getByText("Enter the passphrase to go on sending")).toBeVisible();
  // Nobody is in practice, which only stands in for the laboratory.
  const bar = window.getByTestId("environment-bar");
  await expect(bar).toContainText("Enter the laboratory’s passphrase.");
  await expect(window).toHaveTitle("Lab Courier – Sealed");
  await window.getByTestId("nav-reports").click();
  await expect(window.getByTestId("closed-screen")).toContainText("are still sealed");
  await window.getByTestId("nav-certificate").click();
  await expect(window.getByTestId("closed-screen")).toBeVisible();
  await window.getByTestId("nav-settings").click();
  await expect(window.getByTestId("endpoint-practice")).toContainText("Use");
  await expect(window.getByText("appear here once it is open")).toBeVisible();
  await core.drop([core.sample("covid")]);
  await expect(window.getByTestId("candidate-row")).toHaveCount(1);
  await expect(window.getByTestId("send-samples")).toHaveCount(0);
  await sound(window);
  await window.getByTestId("send-open").click();
  await window.getByTestId("vault-passphrase").fill("korrekt pferd batterei");
  await window.keyboard.press("Enter");
  await expect(window.getByText("The passphrase is wrong")).toBeVisible();
  await window.getByTestId("vault-passphrase").fill("korrekt pferd batterie");
  await window.keyboard.press("Enter");
  await expect(window.getByRole("dialog")).toHaveCount(0);
  await expect(window.getByText("Enter the passphrase to go on sending")).toHaveCount(0);
  // What was named for the laboratory is still on the list, and goes to it.
  await expect(window.getByTestId("candidate-row")).toHaveCount(1);
  await expect(window.getByTestId("send-button")).toHaveText("Send 1 report");
  await expect(window.getByText("no longer on the list")).toHaveCount(0);
  // Whoever worked with the authority goes on there.
  await expect.poll(() => core.call("status")).toMatchObject({ endpoint: "Pilot", environment: "integration" });
});

test("what is no CA, no address or a name twice is said where it stands", async ({ window, core }) => {
  await core.call("protect_with_passphrase", { passphrase: "korrekt pferd batterie" });
  const made = await authority(core);
  await added(window, core, "Pilot", made);
  await expect(window.getByRole("dialog")).toHaveCount(0);
  await window.getByTestId("add-endpoint").click();
  const dialog = window.getByRole("dialog");
  const address = dialog.getByRole("textbox", { name: "Address" });
  const name = dialog.getByRole("textbox", { name: "Name" });
  // Nobody could tell it from practice.
  await name.fill("Übung");
  await address.fill("https://127.0.0.1:9/v1/fhir");
  await window.getByTestId("endpoint-save").click();
  await expect(name).toHaveAttribute("aria-invalid", "true");
  await name.fill("Pilot");
  await address.fill("https://127.0.0.1:9/fhir");
  await expect(dialog).toContainText("This address does not end in /v1/fhir");
  await address.fill("http://127.0.0.1:9/v1/fhir");
  await expect(dialog).not.toContainText("does not end in");
  await core.drop([core.write("ca.pem", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n")]);
  // Nobody adds it without the CA that they meant to give it.
  await expect(window.getByTestId("ca-refused")).toBeInViewport();
  await expect(window.getByTestId("endpoint-save")).toBeDisabled();
  await window
    .getByTestId("ca-refused")
    .getByRole("button", { name: /Remove|Without/ })
    .click();
  await window.getByTestId("endpoint-save").click();
  await expect(address).toHaveAttribute("aria-invalid", "true");
  // Nothing that was entered is gone.
  await expect(dialog.getByRole("textbox", { name: "Name" })).toHaveValue("Pilot");
  await address.fill(made.base);
  await expect(dialog).not.toContainText("has this address already");
  await window.getByTestId("endpoint-save").click();
  await expect(dialog.getByRole("textbox", { name: "Name" })).toHaveAttribute("aria-invalid", "true");
  // The address of a test system as that of production: everything would go there twice.
  await window.getByTestId("preset-production").click();
  await expect(dialog).toContainText("“Pilot” (Test system) has this address already");
  await sound(window);
});

test("each authority has its certificate; one is used for another, and removed only knowingly", async ({
  window,
  core,
}) => {
  await core.call("protect_with_passphrase", { passphrase: "korrekt pferd batterie" });
  const made = await authority(core, ["riverside", "lakeside"]);
  const input = { baseUrl: made.base, environment: "integration" as const, release: null, language: null, proxy: null };
  const caPem = readFileSync(made.ca, "utf8");
  for (const name of ["One", "Two"]) await core.call("add_endpoint", { input: { ...input, name, caPem } });
  await window.getByTestId("nav-certificate").click();
  for (const [laboratory, endpoint] of [
    ["riverside", "One"],
    ["lakeside", "Two"],
  ] as const) {
    await core.drop([join(made.folder, `pilot/${laboratory}.p12`)]);
    await window.getByTestId("certificate-password").fill(made.passwordOf(laboratory));
    await window.keyboard.press("Enter");
    await window.getByTestId("certificate-for").click();
    await window.getByRole("option", { name: endpoint, exact: true }).click();
    await window.getByTestId("certificate-confirm").click();
    await expect(window.getByTestId("certificate-confirm")).toHaveCount(0);
  }
  const of = (name: string) => window.getByTestId("certificate-stored").filter({ hasText: name });
  await expect(of("riverside")).toContainText("Used for One.");
  await expect(of("lakeside")).toContainText("Used for Two.");

  await of("lakeside").getByTestId("certificate-use-for").click();
  await window.getByRole("option", { name: "One", exact: true }).click();
  await expect(of("lakeside")).toContainText(/Used for (One, Two|Two, One)\./);
  await expect(of("riverside")).toContainText("Not used for any authority now.");

  await of("riverside").getByTestId("certificate-remove").click();
  await expect(window.getByRole("dialog")).not.toContainText("use it");
  await window.getByTestId("certificate-remove-confirm").click();
  await expect(of("riverside")).toHaveCount(0);
  await of("lakeside").getByTestId("certificate-remove").click();
  await expect(window.getByRole("dialog")).toContainText(/(One, Two|Two, One) use it/);
  await window.getByTestId("certificate-remove-confirm").click();
  await expect(window.getByText("No certificate of the authority yet")).toBeVisible();
});

test("a certificate takes the place of the one in use once the authority has accepted it, or somebody wants it all the same", async ({
  window,
  core,
}) => {
  await core.call("protect_with_passphrase", { passphrase: "korrekt pferd batterie" });
  const made = await authority(core, ["riverside", "lakeside"]);
  const stranger = await authority(core);
  const input = {
    name: "Pilot",
    baseUrl: made.base,
    environment: "integration" as const,
    release: null,
    language: null,
    proxy: null,
  };
  await core.call("add_endpoint", { input: { ...input, caPem: readFileSync(made.ca, "utf8") } });
  await core.call("certificate_import", { paths: [made.p12], password: made.password, endpoint: "Pilot" });
  await core.call("use_endpoint", { name: "Pilot" });
  const used = async () =>
    (await core.call("certificates"))
      .filter(({ endpoints }) => endpoints.length > 0)
      .map(({ fingerprint }) => fingerprint);
  const [first = ""] = await used();

  // That of another authority: this one does not know it.
  const offer = async (p12: string, password: string) => {
    await core.drop([p12]);
    await window.getByTestId("certificate-password").fill(password);
    await window.keyboard.press("Enter");
    await window.getByTestId("certificate-confirm").click();
  };
  await offer(stranger.p12, stranger.password);
  await expect(window.getByText("The authority does not accept this certificate yet")).toBeVisible();
  await sound(window);
  expect(await used()).toEqual([first]);
  await window.getByRole("button", { name: "Cancel" }).click();
  expect(await used()).toEqual([first]);

  // The next one of the laboratory is accepted, and only then used.
  await offer(made.p12Of("lakeside"), made.passwordOf("lakeside"));
  await expect(window.getByText("The certificate is stored")).toBeVisible();
  await expect.poll(used).not.toEqual([first]);
});

test("the file of a CA leads to the authority that uses it, from Send and from the certificates", async ({
  window,
  core,
}) => {
  await core.call("protect_with_passphrase", { passphrase: "korrekt pferd batterie" });
  const made = await authority(core);
  const input = { environment: "integration" as const, release: null, language: null, caPem: null, proxy: null };
  const dialog = window.getByRole("dialog");

  // On the list of Send, beside a report: with no authority yet, one is added with it.
  await core.drop([made.ca, core.sample("covid")]);
  await expect(window.getByTestId("candidate-row")).toHaveCount(2);
  await expect(window.getByTestId("import-this-certificate")).toHaveCount(0);
  await window.getByTestId("use-as-ca").click();
  await expect(dialog).toContainText("Add an authority");
  await expect(window.getByTestId("endpoint-ca")).toContainText("Valid until");
  await window.keyboard.press("Escape");
  await window.getByTestId("discard").click();

  // Dropped alone it is said what it is, and no password is asked for; the only authority is opened with it.
  await core.call("add_endpoint", { input: { ...input, name: "Pilot", baseUrl: made.base } });
  await core.drop([made.ca]);
  await expect(window.getByText("This is the certificate of a certificate authority (CA)")).toBeVisible();
  await expect(window.getByTestId("certificate-password")).toHaveCount(0);
  await sound(window);
  await window.getByTestId("use-as-ca").click();
  await expect(dialog).toContainText("Pilot");
  await expect(window.getByTestId("endpoint-ca")).toContainText("Valid until");
  await expect(window.getByTestId("endpoint-ca").getByText("Valid until")).toBeInViewport();
  await window.getByTestId("endpoint-change").click();
  await expect(window.getByText("Test system · Version 1.13.1 · own certification authority")).toBeVisible();

  // Of several, the person says which.
  await core.call("add_endpoint", { input: { ...input, name: "Second", baseUrl: "https://127.0.0.1:9/v1/fhir" } });
  await core.drop([made.ca]);
  await window.getByTestId("use-as-ca").click();
  await expect(dialog).toHaveCount(0);
  await window.getByTestId("ca-for").getByRole("button", { name: "Second" }).click();
  await expect(dialog.getByRole("textbox", { name: "Name" })).toHaveValue("Second");
  await expect(window.getByTestId("endpoint-ca")).toContainText("Valid until");
  await window.getByTestId("endpoint-change").click();
  await expect(dialog).toHaveCount(0);
  await expect(window.getByTestId("ca-for")).toHaveCount(0);
});

test("a certificate that no authority uses leads to one, and is removed", async ({ window, core }) => {
  await core.call("protect_with_passphrase", { passphrase: "korrekt pferd batterie" });
  const made = await authority(core);
  await core.call("certificate_import", { paths: [made.p12], password: made.password, endpoint: null });
  await window.getByTestId("nav-certificate").click();
  const stored = window.getByTestId("certificate-stored");
  await expect(stored).toContainText("Not used for any authority now.");
  await stored.getByTestId("certificate-add-endpoint").click();
  await expect(window.getByRole("dialog")).toContainText("Add an authority");
  await window.keyboard.press("Escape");
  // Who imported it has left behind which one it was.
  await window.getByTestId("audit-log").click();
  const imported = window.locator('[data-change="certificate-imported-named"]');
  await expect(imported).toContainText(/CN=riverside.*valid until \d+ \w+ \d{4}/);
  await window.keyboard.press("Escape");
  await window.getByTestId("nav-certificate").click();
  await stored.getByTestId("certificate-remove").click();
  await window.getByTestId("certificate-remove-confirm").click();
  await expect(stored).toHaveCount(0);
});

test("what a certificate file is, is said before its password is asked for", async ({ window, core }) => {
  const made = await authority(core);
  await core.drop([made.p12]);
  await expect(window.getByTestId("certificate-sealed")).toContainText("protected by a password");
  await expect(window.getByTestId("certificate-password")).toBeFocused();
  await core.drop([core.write("notes.pem", "minutes of the meeting")]);
  await expect(window.getByText("This is not a certificate file")).toBeVisible();
  await expect(window.getByTestId("certificate-password")).toHaveCount(0);
});

test.describe("in French", () => {
  test.use({ language: "fr" });

  test("what is known of the authority of the country is filled in, and the address is what is left", async ({
    window,
  }) => {
    await window.getByTestId("nav-settings").click();
    await window.getByTestId("add-endpoint").click();
    const dialog = window.getByRole("dialog");
    await dialog.getByTestId("preset-production").click();
    await expect(dialog.getByRole("textbox", { name: "Nom" })).toHaveValue("OFSP");
    await expect(dialog.getByRole("textbox", { name: "Adresse" })).toBeFocused();
    await expect(dialog.getByRole("button", { name: /Environnement/ })).toContainText("Production");
    await dialog.getByText("Options avancées").click();
    // A language is named, and not by its code.
    await expect(dialog).toContainText("français suisse");
    await expect(dialog).not.toContainText("fr-CH");
    await sound(window);
  });
});
