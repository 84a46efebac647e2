// Where a report goes is said on every row and on the open report, wherever it could be taken for another place; and what
// waits is decided there by a person.

import { laboratory as setUp } from "./laboratory";
import { expect, sound, test } from "./window";
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
  await expect(row.getByTestId("destination")).toHaveText("Test system · Pilot");
  await row.click();
  await expect(window.getByTestId("detail").getByTestId("destination")).toHaveText("Test system · Pilot");
});

test("practice and a test system say so in words, and the way between them is a word that is typed", async ({
  window,
  core,
}) => {
  await setUp(core, "Pilot");
  await window.reload();
  const bar = window.getByTestId("environment-bar");
  await expect(bar).toContainText("Practice");
  await expect(window).toHaveTitle("Lab Courier – Practice");
  await window.getByTestId("nav-settings").click();
  const pilot = window.getByRole("listitem").filter({ hasText: "Pilot" });
  await pilot.getByRole("button", { name: "Use", exact: true }).click();
  await expect(window.getByTestId("production-confirm"), "without the word it cannot be confirmed").toBeDisabled();
  await sound(window);
  await window.getByTestId("production-word").fill("test system");
  await window.keyboard.press("Enter");
  await expect(bar).toContainText("Test system");
  await expect(window).toHaveTitle("Lab Courier – Test system");
});

test("a pause is said on every screen and ended there", async ({ window, core }) => {
  await window.getByTestId("nav-settings").click();
  await window.getByRole("switch", { name: "Pause sending" }).press("Space");
  const goOn = window.getByRole("button", { name: "Go on" });
  for (const screen of ["send", "reports", "correct", "overview", "ask", "certificate"]) {
    await window.getByTestId(`nav-${screen}`).click();
    await expect(goOn, screen).toBeVisible();
  }
  await sound(window);
  expect((await core.call("status")).paused).toBe(true);
  await goOn.click();
  await expect(goOn).toHaveCount(0);
  expect((await core.call("status")).paused).toBe(false);
});

test("an authority that cannot be reached is tried at once by a press, and what came of it is said", async ({
  window,
  core,
}) => {
  const made = await laboratory(core, "Pilot");
  await made.end();
  await window.reload();
  await core.drop([core.sample("covid")]);
  await window.getByTestId("send-button").click();
  // The window hears of it by itself.
  await expect(window.getByRole("navigation")).toContainText("Not reachable");
  await expect(window.getByTestId("held-up")).toHaveText("1 waits for the connection");
  await expect(window.getByText("1 report is safe on this computer")).toBeVisible();
  await window.getByTestId("try-now").click();
  await expect(window.getByText("Tried just now, without success")).toBeVisible();
  await sound(window);
  expect((await core.call("status")).counts).toMatchObject({ inProgress: 1, completed: 0 });
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
