// Ask the authority: what it has, beside what stands here; what was sent from elsewhere; what it cannot be asked.

import { readFileSync } from "node:fs";

import type { EndpointInput } from "../../src/bridge/generated/EndpointInput";
import { anotherCore, authority, expect, heldBack, placeOf, sound, test } from "./window";
import type { Core } from "./window";

test("what the authority has is shown beside the list, narrowed, and opened", async ({ window, core }) => {
  const paths = [core.sample("covid"), core.sample("malaria"), core.sample("muster-fehler")];
  await core.send(paths);
  await expect.poll(async () => (await core.call("status")).counts.byState).toMatchObject({ completed: 2, failed: 1 });
  await window.getByTestId("nav-ask").click();
  const hits = window.getByTestId("hit");
  await expect(hits).toHaveCount(3);
  await expect(window.getByTestId("ask-sum")).toContainText("3 reports at the authority, 3 shown");
  await expect(window.locator("main")).not.toContainText("Sent elsewhere");
  await sound(window);

  await window.getByTestId("ask-status").click();
  await window.getByRole("option", { name: "Failed" }).click();
  await window.getByTestId("ask").click();
  await expect(hits).toHaveCount(1);
  await expect(hits).toContainText("Salmonell");
  await expect(hits.getByTestId("message")).toHaveCount(1);

  // From a report to the question for it, and back.
  await hits.getByTestId("hit-open").click();
  await expect(window.getByTestId("detail-state")).toHaveAttribute("data-state", "failed");
  await window.getByTestId("tab-timeline").click();
  await window.getByTestId("ask-this").click();
  const { identifier, receipt } = await core.call("detail", { id: 3 });
  await expect(window.getByTestId("ask-identifier")).toHaveValue(identifier);
  await expect(hits).toHaveCount(1);
  await window.getByTestId("ask-identifier").fill(receipt ?? "");
  await window.keyboard.press("Enter");
  await expect(hits).toContainText(identifier);

  await window.getByTestId("ask-identifier").fill("urn:uuid:00000000-0000-4000-8000-000000000000");
  await window.keyboard.press("Enter");
  await expect(window.getByText("The authority shows nothing that matches")).toBeVisible();
  await expect(window.getByText("no proof that a report was not received")).toBeVisible();
  await sound(window);
  await window.getByTestId("ask-all").click();
  await expect(hits).toHaveCount(3);
  // Days of long ago.
  const until = window.getByTestId("ask-until");
  await until.getByRole("spinbutton").first().click();
  await window.keyboard.type("01012020");
  await expect(until).toContainText("01.01.2020");
  await window.keyboard.press("Enter");
  await expect(hits).toHaveCount(0);
  await window.getByTestId("ask-clear").click();
  await expect(hits).toHaveCount(3);
  await expect(until).not.toContainText("2020");
});

test("more than a page is shown page by page", async ({ window, core }) => {
  await core.send(core.copies("covid", 27));
  await expect.poll(async () => (await core.call("status")).counts.completed).toBe(27);
  await window.getByTestId("nav-ask").click();
  await expect(window.getByTestId("hit")).toHaveCount(25);
  await window.getByTestId("ask-further").click();
  await expect(window.getByTestId("hit")).toHaveCount(27);
  await expect(window.getByTestId("ask-further")).toHaveCount(0);
});

test.describe("a laboratory", () => {
  test.use({ keychain: false, theme: "dark" });

  const set = async (
    core: Core,
    made: Awaited<ReturnType<typeof authority>>,
    release: EndpointInput["release"] = null,
  ) => {
    await core.call("protect_with_passphrase", { passphrase: "korrekt pferd batterie" });
    const caPem = readFileSync(made.ca, "utf8");
    const input: EndpointInput = {
      name: "Pilot",
      baseUrl: made.base,
      environment: "integration",
      release,
      language: null,
      proxy: null,
      caPem,
    };
    await core.call("add_endpoint", { input });
    await fetch(`${core.address}/host/grant`, { method: "POST", body: JSON.stringify([made.p12]) });
    await core.call("certificate_import", { paths: [made.p12], password: made.password, endpoint: "Pilot" });
    await core.call("use_endpoint", { name: "Pilot" });
  };

  test("what another computer sent with the same certificate is shown as such; an authority that is away is asked again", async ({
    window,
    core,
  }) => {
    const made = await authority(core);
    await set(core, made);
    const other = await anotherCore(core);
    await set(other, made);
    await other.send([other.sample("malaria")]);
    await core.send([core.sample("covid")]);
    for (const one of [core, other]) {
      await expect.poll(async () => (await one.call("status")).counts.completed).toBe(1);
    }
    await window.getByTestId("nav-ask").click();
    const hits = window.getByTestId("hit");
    await expect(hits).toHaveCount(2);
    await expect(hits.filter({ hasText: "Sent elsewhere" })).toHaveCount(1);
    await expect(hits.filter({ hasText: "COVID" }).getByTestId("hit-open")).toBeVisible();
    await expect(window.getByTestId("ask-sum")).toContainText("1 of them was sent elsewhere");
    await sound(window);

    await made.end();
    await window.getByTestId("ask").click();
    await expect(window.getByTestId("ask-again")).toBeVisible();
    await expect(hits).toHaveCount(0);
    await sound(window);
    await window.getByTestId("ask-again").click();
    await expect(window.getByTestId("ask-again")).toBeVisible();
  });

  test("another authority answers by itself, and takes nothing out of the hand of whoever fills in the question", async ({
    window,
    core,
  }) => {
    await core.send([core.sample("covid")]);
    await expect.poll(async () => (await core.call("status")).counts.completed).toBe(1);
    await window.getByTestId("nav-ask").click();
    const hits = window.getByTestId("hit");
    await expect(hits).toHaveCount(1);
    await window.getByTestId("ask-identifier").fill("urn:uuid:");
    await window.getByTestId("ask-status").click();
    const option = window.getByRole("option", { name: "Failed" });
    await expect(option).toBeVisible();
    const list = await option.elementHandle();
    // Another program has chosen the endpoint. What its authority answers is held back until the list is open.
    const made = await authority(core);
    const letGo = await heldBack(window, "ask_authority");
    await set(core, made);
    await expect(window.getByText("Asking the authority")).toBeAttached();
    const before = await placeOf(window.getByTestId("ask-status"));
    letGo();
    await expect(window.getByText("The authority shows no report to this certificate")).toBeAttached();
    expect(await placeOf(window.getByTestId("ask-status"))).toEqual(before);
    expect(await list?.isVisible()).toBe(true);
    await option.click();
    await expect(window.getByTestId("ask-status")).toContainText("Failed");
    await expect(window.getByTestId("ask-identifier")).toHaveValue("urn:uuid:");
  });

  test("a report is asked for where it went, as it was sent there, whatever is in use now", async ({
    window,
    core,
  }) => {
    const made = await authority(core, ["riverside", "lakeside"]);
    await set(core, made);
    await core.send([core.sample("covid")]);
    await expect.poll(async () => (await core.call("status")).counts.completed).toBe(1);
    const { identifier } = await core.call("detail", { id: 1 });
    // Another certificate, which the authority shows nothing of it; then another authority.
    await fetch(`${core.address}/host/grant`, { method: "POST", body: JSON.stringify([made.p12Of("lakeside")]) });
    await core.call("certificate_import", {
      paths: [made.p12Of("lakeside")],
      password: made.passwordOf("lakeside"),
      endpoint: "Pilot",
    });
    const hits = window.getByTestId("hit");
    const ask = async () => {
      await window.getByTestId("nav-reports").click();
      await window.getByTestId("report-row").click();
      await window.getByTestId("tab-timeline").click();
      await window.getByTestId("ask-this").click();
      await expect(window.getByTestId("ask-identifier")).toHaveValue(identifier);
      await expect(hits).toHaveCount(1);
      await expect(window.getByTestId("ask-sum")).toContainText("Asked: Pilot");
    };
    await ask();
    const other = await authority(core);
    const input = {
      name: "Other",
      baseUrl: other.base,
      environment: "integration" as const,
      release: null,
      language: null,
      proxy: null,
    };
    await core.call("add_endpoint", { input: { ...input, caPem: readFileSync(other.ca, "utf8") } });
    await fetch(`${core.address}/host/grant`, { method: "POST", body: JSON.stringify([other.p12]) });
    await core.call("certificate_import", { paths: [other.p12], password: other.password, endpoint: "Other" });
    await core.call("use_endpoint", { name: "Other" });
    await ask();
    await sound(window);
    // Whoever asks for everything asks the one in use.
    await window.getByTestId("ask-clear").click();
    await expect(window.getByText("The authority shows no report to this certificate")).toBeVisible();
    await expect(window.getByText("Asked: Other")).toBeVisible();
  });

  test("what an old interface cannot be asked is said in words, and left out by a press", async ({ window, core }) => {
    const made = await authority(core);
    await set(core, made, "1.0.0-trialuse");
    await window.getByTestId("nav-ask").click();
    await window.getByTestId("ask-status").click();
    await window.getByRole("option", { name: "Failed" }).click();
    await window.getByTestId("ask").click();
    await expect(window.getByTestId("ask-not-taken")).toContainText("The authority cannot be asked by: Status");
    await sound(window);
    await window.getByTestId("ask-without").click();
    await expect(window.getByTestId("ask-not-taken")).toHaveCount(0);
    await expect(window.getByTestId("ask-status")).toContainText("Any");
  });
});
