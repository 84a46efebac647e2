// Whatever sends a report can be taken back for some seconds: a key, a button of one report, one decision for a cause.

import { readFileSync } from "node:fs";

import type { Page } from "@playwright/test";

import { expect, heldBack, sound, test } from "./window";
import type { Core } from "./window";

async function undoSeconds(core: Core, seconds: number): Promise<void> {
  await core.call("set_preferences", { preferences: { ...(await core.call("preferences")), undoSeconds: seconds } });
}

/** Reports that the authority has refused; from then on there is time for undoing. */
async function failed(core: Core, count: number): Promise<number[]> {
  const sent = await core.send(core.copies("muster-fehler", count));
  const ids = sent.submissions.flatMap((id) => (id === null ? [] : [id]));
  await expect.poll(async () => (await core.call("batch", { ids })).attention).toHaveLength(count);
  await undoSeconds(core, 30);
  return ids;
}

/** The bar offers to take it back; once that is pressed, none of these has been sent. */
async function takenBack(window: Page, core: Core, count: number): Promise<void> {
  const batch = window.getByTestId("batch");
  await expect(batch).toHaveAttribute("data-phase", "waiting");
  await expect(batch).toContainText(count === 1 ? "1 report leaves in" : `${count} reports leave in`);
  await window.getByTestId("undo").click();
  await expect(batch).toContainText("nothing was sent");
  const { byState } = (await core.call("status")).counts;
  expect(byState).toMatchObject({ held: count, queued: 0, sending: 0, "in-progress": 0 });
  const query = {
    group: null,
    states: ["held" as const],
    search: null,
    since: null,
    until: null,
    before: null,
    limit: null,
    ids: null,
    laboratory: null,
    about: null,
    timeliness: null,
    sort: null,
    ascending: false,
    language: null,
  };
  for (const { id } of (await core.call("list", { query, reveal: false })).rows) {
    expect((await core.call("detail", { id })).attempts).toBe(0);
  }
}

test("the key R sends again, and is taken back", async ({ window, core }) => {
  await failed(core, 1);
  await window.getByTestId("nav-reports").click();
  await window.getByTestId("report-row").click();
  await expect(window.getByTestId("detail-state")).toHaveAttribute("data-state", "failed");
  await window.keyboard.press("r");
  await takenBack(window, core, 1);
});

test("Send again of an open report is taken back", async ({ window, core }) => {
  await failed(core, 1);
  await window.getByTestId("nav-reports").click();
  await window.getByTestId("report-row").click();
  await window.getByTestId("action-resubmit").click();
  await takenBack(window, core, 1);
});

test("what was taken back is sent after all in one press, and is nothing to correct", async ({ window, core }) => {
  await failed(core, 1);
  await window.getByTestId("nav-reports").click();
  await window.getByTestId("report-row").click();
  await window.getByTestId("action-resubmit").click();
  await takenBack(window, core, 1);
  await expect(window.getByTestId("batch-correct")).toHaveCount(0);
  await window.getByTestId("send-after-all").click();
  await takenBack(window, core, 1);
});

test("Send anyway is taken back", async ({ window, core }) => {
  const whole = readFileSync(core.sample("covid"), "utf8");
  const wrong = whole.replace(/"birthDate": ?"[^"]*"/, '"birthDate": "2999-01-01"');
  expect(wrong).not.toBe(whole);
  await core.send([core.write("wrong.json", wrong)]);
  await undoSeconds(core, 30);
  await window.getByTestId("nav-reports").click();
  await window.getByTestId("report-row").click();
  await window.getByTestId("action-release").click();
  const confirm = window.getByTestId("reason-confirm");
  await expect(confirm, "without a reason it cannot be confirmed").toBeDisabled();
  await window.getByTestId("reason").fill("the date is right");
  await confirm.click();
  await takenBack(window, core, 1);
});

for (const [one, all] of [
  ["Send 3 again unchanged", true],
  ["Send one first", false],
] as const) {
  test(`a cause that is sent again is taken back: ${one}`, async ({ window, core }) => {
    await failed(core, 3);
    await window.getByTestId("nav-correct").click();
    await window.getByRole("button", { name: "Send 3 again unchanged" }).click();
    const dialog = window.getByRole("dialog");
    await dialog.getByTestId(all ? "resubmit-all" : "resubmit-one").click();
    await expect(dialog).toHaveCount(0);
    await takenBack(window, core, all ? 3 : 1);
    // They are to be corrected as they were, for the one cause that they had.
    const cause = window.getByTestId("cause");
    await expect(cause).toHaveCount(1);
    await expect(cause).toContainText("fails on purpose");
    const page = window.getByTestId("cause-page");
    await expect(page.getByTestId("report-row")).toHaveCount(3);
    await expect(page.locator("[data-state=held]")).toHaveCount(all ? 3 : 1);
    await expect(page.getByTestId("fix-once")).toBeEnabled();
    await expect(page.getByTestId("on-hold")).toContainText("taken back before");
    await page.locator("[data-state=held]").first().click();
    await expect(window.getByTestId("earlier-delivery")).toBeVisible();
    await expect(window.getByTestId("action-correct")).toBeVisible();
    await expect(window.getByTestId("action-release")).toHaveText("Send it after all");
    // The page that has taken it back is gone; the core knows it still, and asks nobody for a reason.
    await window.reload();
    await window.getByTestId("nav-correct").click();
    await page.getByTestId("send-after-all").click();
    if (all) await window.getByRole("dialog").getByTestId("resubmit-one").click();
    const batch = window.getByTestId("batch");
    await expect(batch).toContainText("1 report leaves in");
    await window.getByTestId("undo").click();
    await expect(batch).toContainText("nothing was sent");
  });
}

test("what is still being taken in is taken back", async ({ window, core }) => {
  await undoSeconds(core, 30);
  await core.drop(core.copies("covid", 3));
  const send = window.getByTestId("send-button");
  await expect(send).toBeEnabled();
  // A long list, for somebody who looks: what the core has taken in part of has its own test there.
  const letGo = await heldBack(window, "hand_over");
  await send.click();
  const taking = window.getByTestId("taking");
  await expect(taking).toContainText("being taken in");
  await expect(send, "it goes once").toBeDisabled();
  const stopped = window.waitForResponse("**/call/stop_taking");
  await taking.getByTestId("undo").click();
  await stopped;
  letGo();
  const batch = window.getByTestId("batch");
  await expect(batch).toHaveAttribute("data-phase", "undone");
  await expect(batch).toContainText("3 reports are on hold: nothing was sent");
  const { byState } = (await core.call("status")).counts;
  expect(byState).toMatchObject({ held: 3, queued: 0, sending: 0, "in-progress": 0, completed: 0 });
  // Nothing is wrong with them: they go after all together, and nobody is asked why.
  await window.getByTestId("nav-correct").click();
  const page = window.getByTestId("cause-page");
  await expect(page.getByRole("heading", { level: 2 })).toHaveText("Taken back, not sent yet");
  await sound(window);
  await page.getByTestId("send-after-all").click();
  await expect(batch).toContainText("3 reports leave in");
});
