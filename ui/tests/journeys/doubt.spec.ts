// A report whose answer was lost long ago: the window says what is known, and a person who has asked the authority settles
// it, either way.

import { expect, sound, test } from "./window";
import type { Core } from "./window";

const HOURS = 3 * 3600;

/** A report in doubt for three hours. */
async function doubted(core: Core): Promise<number> {
  await core.call("set_paused", { paused: true });
  const { submissions } = await core.send([core.sample("covid")]);
  const [id] = submissions;
  if (typeof id !== "number") throw new Error("it was not taken in");
  await core.doubt(id, HOURS);
  await core.call("set_paused", { paused: false });
  return id;
}

test("a doubt of an hour is with those to correct, and asks what the authority has said", async ({
  window,
  core,
  context,
}) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  const id = await doubted(core);
  await window.getByTestId("nav-correct").click();
  // What our check has noted is no reason for a doubt: why a person is asked stands there.
  await expect(window.getByTestId("cause-page").getByRole("heading", { level: 2 })).toContainText(
    "The answer was lost.",
  );
  await window.getByTestId("cause-page").getByTestId("report-row").click();
  await expect(window.getByTestId("detail-state")).toHaveAttribute("data-state", "unknown");
  const detail = window.getByTestId("detail");
  await expect(detail).toContainText("This takes longer than usual");
  await window.getByTestId("copy-question").click();
  const { identifier, digest } = await core.call("detail", { id });
  const question = await window.evaluate(() => navigator.clipboard.readText());
  for (const known of [identifier, digest]) expect(question).toContain(known);
  // Neither is done by one press: each asks who has said so.
  await window.getByTestId("action-say-received").click();
  const dialog = window.getByRole("dialog");
  await expect(dialog).toContainText("Does the authority have this report?");
  await sound(window);
  await dialog.getByRole("button", { name: "Cancel" }).click();
  await expect(window.getByTestId("detail-state")).toHaveAttribute("data-state", "unknown");
});

test("said to have been received, it is settled and never sent", async ({ window, core }) => {
  const id = await doubted(core);
  await window.getByTestId("nav-correct").click();
  await window.getByTestId("cause-page").getByTestId("report-row").click();
  await window.getByTestId("action-say-received").click();
  const dialog = window.getByRole("dialog");
  await dialog.getByRole("textbox").fill("Frau Muster, Hotline");
  await dialog.getByRole("button", { name: "The authority has it" }).click();
  await expect(window.getByTestId("detail-state")).toHaveAttribute("data-state", "said-received");
  await window.getByTestId("tab-timeline").click();
  await expect(window.getByTestId("detail")).toContainText("Frau Muster, Hotline");
  await expect(window.getByTestId("detail").getByTestId("action-say-not-received")).toHaveCount(0);
  const { counts } = await core.call("status");
  expect(counts).toMatchObject({ needsAttention: 0, completed: 0 });
  // One request stands in its history, and no other has followed.
  const { timeline } = await core.call("detail", { id });
  expect(timeline.filter(({ event }) => event === "sending-started")).toHaveLength(1);
});

test("said not to have been received, it is sent again under the same identifier and completed", async ({
  window,
  core,
}) => {
  const id = await doubted(core);
  const { identifier } = await core.call("detail", { id });
  await window.getByTestId("nav-correct").click();
  await window.getByTestId("cause-page").getByTestId("report-row").click();
  await window.getByTestId("action-say-not-received").click();
  const dialog = window.getByRole("dialog");
  await dialog.getByRole("textbox").fill("Frau Muster, Hotline");
  await dialog.getByRole("button", { name: "The authority does not have it" }).click();
  await expect(window.getByTestId("detail-state")).toHaveAttribute("data-state", "completed");
  const after = await core.call("detail", { id });
  expect(after.identifier).toBe(identifier);
  expect(after.timeline.map(({ event }) => event)).toContain("said-not-received");
  expect(after.receipt).not.toBeNull();
});
