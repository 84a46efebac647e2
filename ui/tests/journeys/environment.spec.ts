// Where a report goes is said on every row and on the open report, wherever it could be taken for another place; and what
// waits is decided there by a person.

import { laboratory as setUp } from "./laboratory";
import { expect, test } from "./window";
import type { Core } from "./window";

test.use({ keychain: false });

/** A laboratory with these authorities, of which the first is in use. */
async function laboratory(core: Core, ...names: [string, ...string[]]) {
  const made = await setUp(core, ...names);
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
