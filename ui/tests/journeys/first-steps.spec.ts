// From the first start to practice completed, and on to the first real report: what comes next is said on Send until all of
// it is done.

import { authority, expect, test } from "./window";

test("the first steps stay until they are done, each opens its place, and they can be put away", async ({
  window,
  core,
  restart,
}) => {
  const list = window.getByTestId("checklist");
  await expect(list).toContainText("First steps");
  await window.getByTestId("checklist-practice").click();
  await window.getByTestId("send-button").click();
  await expect(window.getByTestId("batch")).toHaveAttribute("data-phase", "settled");
  await expect(list).toContainText("Practise (done)");
  await restart();
  // As far as one was: the certificate is next.
  await expect(list).toContainText("Import the certificate that the authority has sent you");
  await window.getByTestId("checklist-authority").click();
  await expect(window.getByRole("dialog")).toContainText("Add an authority");
  await window.keyboard.press("Escape");
  await window.getByTestId("nav-send").click();
  await window.getByTestId("checklist-certificate").click();
  await expect(window.getByText("No certificate of the authority yet")).toBeVisible();
  await window.getByTestId("nav-send").click();
  await window.getByTestId("checklist-hide").click();
  await expect(list).toHaveCount(0);
  await expect.poll(() => core.call("preferences")).toMatchObject({ checklistHidden: true });
  // Put away is not lost: the palette and the help bring it back.
  await window.getByTestId("nav-overview").click();
  await window.keyboard.press("Control+k");
  await window.keyboard.type("first steps");
  await window.keyboard.press("Enter");
  await expect(list).toContainText("First steps");
  await window.getByTestId("checklist-hide").click();
  await expect(list).toHaveCount(0);
  await window.keyboard.press("?");
  await window.getByTestId("checklist-show").click();
  await expect(list).toContainText("First steps");
  await expect.poll(() => core.call("preferences")).toMatchObject({ checklistHidden: false });
});

test.describe("on a computer without a keychain", () => {
  test.use({ keychain: false });

  test("all five steps are done one after the other, and the green test of the connection counts as the fourth", async ({
    window,
    core,
  }) => {
    await core.call("protect_with_passphrase", { passphrase: "korrekt pferd batterie" });
    const made = await authority(core);
    const list = window.getByTestId("checklist");
    await window.getByTestId("checklist-practice").click();
    await window.getByTestId("send-button").click();
    await expect(list).toContainText("Practise (done)");

    await core.drop([made.p12]);
    await window.getByTestId("certificate-password").fill(made.password);
    await window.keyboard.press("Enter");
    await window.getByTestId("certificate-confirm").click();
    await expect(window.getByTestId("certificate-stored")).toBeVisible();
    await expect(window.getByText("It is not used for any authority yet.")).toBeVisible();
    await window.getByTestId("nav-send").click();
    await expect(list).toContainText("Certificate (done)");

    await window.getByTestId("checklist-authority").click();
    const dialog = window.getByRole("dialog").first();
    await dialog.getByRole("textbox", { name: "Name" }).fill("Pilot");
    await dialog.getByRole("textbox", { name: "Address" }).fill(made.base);
    await core.drop([made.ca]);
    await expect(window.getByTestId("endpoint-ca")).toContainText("Valid until");
    await window.getByTestId("endpoint-save").click();
    await expect(dialog).toHaveCount(0);
    await window.getByTestId("nav-send").click();
    await expect(list).toContainText("Authority (done)");

    await window.getByTestId("checklist-connection").click();
    await window.getByRole("button", { name: "Use", exact: true }).click();
    await window.getByTestId("production-word").fill("Test system");
    await window.getByTestId("production-confirm").click();
    await expect(window.getByRole("navigation")).toContainText("Not checked yet");
    await window.getByTestId("test-endpoint").click();
    await expect(window.getByRole("navigation")).toContainText("Connected");
    await expect(window.getByRole("navigation")).toContainText("Last check");
    await window.getByTestId("nav-send").click();
    await expect(list).toContainText("Connection (done)");

    // Another address has not been tested, whoever was there before.
    await core.call("set_endpoint_address", {
      name: "Pilot",
      base_url: made.base.replace("127.0.0.1", "localhost"),
      same_authority: true,
    });
    await expect(window.getByTestId("checklist-connection")).toBeVisible();
    await window.getByTestId("nav-settings").click();
    await window.getByTestId("test-endpoint").click();
    await expect(window.getByRole("navigation")).toContainText("Connected");
    await window.getByTestId("nav-send").click();
    await expect(list).toContainText("Connection (done)");

    await core.drop([core.sample("covid")]);
    await window.getByTestId("send-button").click();
    await expect(window.getByTestId("batch")).toHaveAttribute("data-phase", "settled");
    // All of it is done: the list has nothing more to say.
    await expect(list).toHaveCount(0);
  });
});
