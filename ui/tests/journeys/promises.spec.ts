// What the window promises to a newcomer and to whoever has 200 failed reports of one cause, by screens alone: how many clicks
// it takes is counted, and how long a careful person needs is estimated. With PICTURES=FOLDER the series of pictures of
// docs/pictures is made, with all 200 reports.

import { hand } from "./hand";
import { expect, test } from "./window";
import type { Core } from "./window";

const FOLDER = process.env.PICTURES;
const COUNT = FOLDER ? 200 : 12;
/** A person who corrects types; all else is a click. */
const CLICKS_MAX = 6;
/** Of two minutes; the rest is for the computer. */
const SECONDS_MAX = 100;
/** Two hundred take their time where others work too. */
const PATIENCE = FOLDER ? { timeout: 600_000 } : {};
if (FOLDER) test.setTimeout(1_800_000);

test.use({ viewport: { width: 1100, height: 720 } });

test.describe("a newcomer", () => {
  test.use({ welcomed: false });

  test("gets from the first start to a corrected, completed practice report in five clicks", async ({
    window,
    core,
  }) => {
    const { press, picture, type, clicks, needed } = hand(window, "first-report", FOLDER);
    await press(window.getByTestId("send-samples"));
    await press(window.getByTestId("send-button"));
    const batch = window.getByTestId("batch");
    await expect(batch).toHaveAttribute("data-phase", "settled");
    await press(batch.getByTestId("batch-correct"));
    await press(window.getByRole("button", { name: "Show and correct" }));
    await type(window.getByRole("dialog").getByRole("textbox", { name: "Family name" }), "Muster");
    await expect(window.getByTestId("correct-summary").getByTestId("difference")).toBeVisible();
    await press(window.getByTestId("correct-send"));
    await expect(batch).toHaveAttribute("data-phase", "settled");
    await expect.poll(async () => (await core.call("status")).counts.completed).toBe(6);
    await expect(window.getByTestId("detail-state")).toHaveAttribute("data-state", "completed");
    await picture();
    expect(clicks()).toBeLessThanOrEqual(5);
    expect(needed()).toBeLessThanOrEqual(SECONDS_MAX);
    await expect
      .poll(async () => (await core.call("status")).counts)
      .toMatchObject({ needsAttention: 0, completed: 6 });
  });
});

/** Failed reports of one cause. */
async function failed(core: Core): Promise<void> {
  await core.send(core.copies("muster-fehler", COUNT));
  await expect.poll(async () => (await core.call("status")).counts.byState.failed, PATIENCE).toBe(COUNT);
}

/** All of them are corrected, and none was sent twice. */
async function allCorrected(core: Core): Promise<void> {
  const settled = { needsAttention: 0, inProgress: 0, completed: COUNT, byState: { superseded: COUNT } };
  await expect.poll(async () => (await core.call("status")).counts, PATIENCE).toMatchObject(settled);
}

test("failed reports of one cause are corrected by Fix once in six clicks", async ({ window, core }) => {
  await failed(core);
  const { press, picture, type, clicks, needed } = hand(window, "fix-once", FOLDER);
  await press(window.getByTestId("nav-correct"));
  await press(window.getByTestId("fix-once"));
  await press(window.getByTestId("unveil"));
  await type(window.getByTestId("fix-replace"), "Muster");
  await expect(window.getByTestId("fix-preview")).toContainText(`Changes ${COUNT} reports`, PATIENCE);
  await press(window.getByTestId("fix-first"));
  await press(window.getByTestId("fix-rest"));
  await expect(window.getByTestId("fix-progress")).toHaveAttribute("data-phase", "done", PATIENCE);
  await picture();
  expect(clicks()).toBeLessThanOrEqual(CLICKS_MAX);
  expect(needed()).toBeLessThanOrEqual(SECONDS_MAX);
  await allCorrected(core);
});

test("failed reports of one cause are corrected by dropping their corrected files", async ({ window, core }) => {
  await failed(core);
  const { press, picture, dragged, clicks, needed } = hand(window, "dropped", FOLDER);
  // As a laboratory system exports them again: the same documents, with the name put right.
  dragged();
  await core.drop(core.copies("muster-fehler", COUNT, (text) => text.replaceAll("Muster-Fehler", "Muster")));
  await expect(window.getByText(`${COUNT} of these files correct`)).toBeVisible(PATIENCE);
  await press(window.getByTestId("send-button"));
  await expect(window.getByTestId("batch")).toHaveAttribute("data-phase", "settled", PATIENCE);
  await picture();
  await press(window.getByTestId("nav-correct"));
  await expect(window.getByText("All clear. No failed reports.")).toBeVisible();
  await picture();
  expect(clicks()).toBeLessThanOrEqual(CLICKS_MAX);
  expect(needed()).toBeLessThanOrEqual(SECONDS_MAX);
  await allCorrected(core);
});
