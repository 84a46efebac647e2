// Where a report goes is said on every row and on the open report, wherever it could be taken for another place; and what
// waits is decided there by a person.

import { readFileSync } from "node:fs";

import { authority, expect, test } from "./window";
import type { Core } from "./window";

test.use({ keychain: false });

/** A laboratory with these authorities, of which the first is in use. */
async function laboratory(core: Core, ...names: [string, ...string[]]) {
  await core.call("protect_with_passphrase", { passphrase: "korrekt pferd batterie" });
  const made = await authority(core);
  for (const name of names) {
    const input = {
      name,
      baseUrl: made.base,
      environment: "integration" as const,
      release: null,
      language: null,
      proxy: null,
    };
    await core.call("add_endpoint", { input: { ...input, caPem: readFileSync(made.ca, "utf8") } });
  }
  await fetch(`${core.address}/host/grant`, { method: "POST", body: JSON.stringify([made.p12]) });
  await core.call("certificate_import", { paths: [made.p12], password: made.password, endpoint: names[0] });
  await core.call("use_endpoint", { name: names[0] });
  return made;
}

test("each row and the open report say environment and authority", async ({ window, core }) => {
  await core.send([core.sample("muster-fehler")]);
  await expect.poll(async () => (await core.call("status")).counts.needsAttention).toBe(1);
  await window.getByTestId("nav-reports").click();
  await expect(window.getByTestId("report-row").getByTestId("destination")).toHaveText("Practice");
  await laboratory(core, "Pilot");
  await core.send([core.sample("muster-fehler")]);
  await expect
    .poll(async () => (await core.call("status")).counts.needsAttention + (await core.call("status")).counts.completed)
    .toBe(1);
  await window.reload();
  await window.getByTestId("nav-reports").click();
  const row = window.getByTestId("report-row");
  await expect(row.getByTestId("destination")).toHaveText("Integration · Pilot");
  await row.click();
  await expect(window.getByTestId("detail").getByTestId("destination")).toHaveText("Integration · Pilot");
});

test("To correct says it too", async ({ window, core }) => {
  await core.send([core.sample("muster-fehler")]);
  await expect.poll(async () => (await core.call("status")).counts.needsAttention).toBe(1);
  await window.getByTestId("nav-correct").click();
  await expect(window.getByTestId("report-row").getByTestId("destination")).toHaveText("Practice");
});

test("a report that waits is stopped, and another one is not sent, from the open report", async ({ window, core }) => {
  await core.call("set_paused", { paused: true });
  await core.send([core.sample("covid"), core.sample("malaria")]);
  await window.getByTestId("nav-reports").click();
  await window.getByTestId("report-row").nth(0).click();
  await window.getByTestId("action-hold-back").click();
  await expect(window.getByTestId("detail-state")).toHaveAttribute("data-state", "held");
  await window.getByTestId("report-row").nth(1).click();
  await expect(window.getByTestId("detail-state")).toHaveAttribute("data-state", "queued");
  await window.getByTestId("action-withdraw").click();
  await window.getByTestId("reason").fill("a control sample");
  await window.getByTestId("reason-confirm").click();
  await expect(window.getByTestId("detail-state")).toHaveAttribute("data-state", "withdrawn");
  await expect
    .poll(async () => (await core.call("status")).counts.byState)
    .toMatchObject({ held: 1, withdrawn: 1, queued: 0 });
});
