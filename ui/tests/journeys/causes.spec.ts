// To correct: the causes at the left, the page of one at the right; a cause that comes back after its correction says so.

import { readFileSync } from "node:fs";

import { expect, heldBack, sound, test } from "./window";
import type { Core } from "./window";

/** Sends files, and waits until nothing is under way. */
async function sent(core: Core, paths: string[]): Promise<number[]> {
  const { submissions } = await core.send(paths);
  const ids = submissions.flatMap((id) => (id === null ? [] : [id]));
  await expect.poll(async () => (await core.call("batch", { ids })).moving).toBe(0);
  return ids;
}

const wrongBirth = (core: Core) => {
  const whole = readFileSync(core.sample("covid"), "utf8");
  return core.write("wrong.json", whole.replace(/"birthDate": ?"[^"]*"/, '"birthDate": "2999-01-01"'));
};

test("the causes stand at the left, and the page of the chosen one beside them", async ({ window, core }) => {
  await sent(core, [...core.copies("muster-fehler", 3), wrongBirth(core)]);
  await window.getByTestId("nav-correct").click();
  const [causes, page] = [window.getByTestId("cause"), window.getByTestId("cause-page")];
  await expect(causes).toHaveCount(2);
  // The most frequent one is open at once.
  await expect(causes.first()).toHaveAttribute("aria-current", "true");
  await expect(page.getByTestId("report-row")).toHaveCount(3);
  await expect(page).toContainText("3 in the last 14 days");
  await expect(page.getByTestId("fix-once")).toBeVisible();
  await expect(window.getByTestId("cause-back")).toHaveCount(0);
  // Who is meant stands there only once names are shown.
  await expect(page.getByTestId("cause-values")).toHaveCount(0);
  await window.getByTestId("reveal-names").click();
  await expect(page.getByTestId("cause-values")).toHaveText("Family name:Muster-Fehler× 3");
  await window.getByTestId("reveal-names").click();
  await sound(window);
  await causes.nth(1).click();
  await expect(page.getByTestId("report-row")).toHaveCount(1);
  const title = (await causes.nth(1).locator("strong").textContent()) ?? "";
  // The headline of a cause has no birth date of a patient before names are shown, wherever it stands.
  expect(title).toContain("is in the future");
  expect(title).not.toContain("2999");
  await window.getByTestId("nav-reports").click();
  await expect(window.getByTestId("report-list").first()).not.toContainText("2999-01");
  await window.getByTestId("nav-overview").click();
  await expect(window.getByTestId("overview-causes")).toContainText("is in the future");
  await expect(window.getByTestId("overview-causes")).not.toContainText("2999");
  await window.getByTestId("nav-correct").click();
  await window.getByTestId("reveal-names").click();
  await expect(causes.nth(1).locator("strong")).toContainText("1 January 2999");
  await window.getByTestId("reveal-names").click();
  await causes.nth(1).click();
  await expect(page.getByRole("heading", { level: 2 })).toHaveText(title);
  // An open report takes the place of the page; its cause and the others of it stay in sight.
  await causes.first().click();
  await page.getByTestId("report-row").nth(1).click();
  await expect(page).toHaveCount(0);
  await expect(window.getByTestId("detail")).toBeVisible();
  await expect(window.getByTestId("report-row")).toHaveCount(3);
  await expect(window.getByTestId("report-row").nth(1)).toHaveAttribute("aria-pressed", "true");
  await sound(window);
  await window.keyboard.press("Escape");
  await expect(page.getByTestId("report-row")).toHaveCount(3);
});

test("what one cause holds up is set not reportable with one reason, and the cause is gone", async ({
  window,
  core,
}) => {
  const ids = await sent(core, core.copies("muster-fehler", 3));
  await window.getByTestId("nav-correct").click();
  await window.getByTestId("cause-not-reportable").click();
  const dialog = window.getByRole("dialog");
  await expect(dialog).toContainText("Mark 3 reports as not reportable?");
  await expect(window.getByTestId("reason-confirm"), "without a reason it cannot be confirmed").toBeDisabled();
  await window.getByTestId("reason").fill("from a ring trial");
  await sound(window);
  await window.getByTestId("reason-confirm").click();
  await expect(dialog).toHaveCount(0);
  await expect(window.getByTestId("cause")).toHaveCount(0);
  await expect(window.getByText("All clear. No failed reports.")).toBeVisible();
  for (const id of ids) {
    const { row, timeline } = await core.call("detail", { id });
    expect(row.state).toBe("withdrawn");
    // By the word that whoever asks later looks for, as where reports are chosen in the list.
    expect(timeline.at(-1)?.params).toMatchObject({ reason: "Not reportable: from a ring trial" });
  }
});

test("whoever leaves one report unsent is told that it is for good, reads why beside its state, and can add it again", async ({
  window,
  core,
}) => {
  const [file = ""] = core.copies("muster-fehler", 1);
  await sent(core, [file]);
  const dialog = window.getByRole("dialog");
  await window.getByTestId("nav-correct").click();
  await window.getByTestId("cause-not-reportable").click();
  await expect(dialog).toContainText("Say why it need not be reported");
  await expect(dialog).toContainText("This cannot be undone.");
  await window.keyboard.press("Escape");
  await expect(dialog).toHaveCount(0);
  await window.getByTestId("report-row").click();
  await window.getByTestId("action-not-reportable").click();
  await expect(dialog).toContainText("Say why it need not be reported");
  await window.keyboard.press("Escape");
  await window.getByTestId("action-withdraw").click();
  await expect(dialog).toContainText(
    "This cannot be undone. To send it after all, add the report again and choose “Send again”.",
  );
  await window.getByTestId("reason").fill("sent by fax");
  await window.getByTestId("reason-confirm").click();
  await expect(dialog).toHaveCount(0);
  await expect(window.getByTestId("detail-state")).toHaveAttribute("data-state", "withdrawn");
  await expect(window.getByTestId("withdrawn-why")).toHaveText("Reason: sent by fax");
  await sound(window);
  // What the dialog has said of it holds.
  await core.drop([file]);
  await window.getByText("Send again", { exact: true }).click();
  await window.getByTestId("send-button").click();
  await expect.poll(async () => (await core.call("status")).counts.needsAttention).toBe(1);
});

test("the next report of the same cause follows, however the correction was opened, and its form waits for the keyboard", async ({
  window,
  core,
}) => {
  await sent(core, core.copies("muster-fehler", 5));
  await window.getByTestId("nav-correct").click();
  await window.getByTestId("reveal-names").click();
  const family = window.getByRole("dialog").getByRole("textbox", { name: "Family name" });
  /** Types the right name where the keyboard is, and sends it. */
  const correct = async () => {
    await expect(family).toBeFocused();
    await window.keyboard.press("Control+a");
    await window.keyboard.type("Muster");
    await expect(window.getByTestId("correct-send")).toBeEnabled();
    await window.keyboard.press("Control+Enter");
    await expect(family).toHaveCount(0);
  };
  const isFollowed = async (left: string, needsAttention: number) => {
    await expect(window.getByText(left)).toBeVisible();
    await expect(window.getByTestId("detail-state")).toHaveAttribute("data-state", "failed");
    await expect.poll(async () => (await core.call("status")).counts.needsAttention).toBe(needsAttention);
  };
  // From the page of the cause: its first report is opened, and then corrected, by the same key.
  await expect(window.getByTestId("cause-page")).toBeVisible();
  await window.keyboard.press("j");
  await window.keyboard.press("e");
  await correct();
  await isFollowed("4 reports left", 4);
  await window.keyboard.press("e");
  await correct();
  await isFollowed("3 reports left", 3);
  // The list has heard of the correction before its answer is there.
  await window.keyboard.press("e");
  await window.route("**/call/correct_with_text", async (route) => {
    const response = await route.fetch();
    await expect(window.getByTestId("cause").locator("span[aria-hidden]").first()).toHaveText("2");
    await route.fulfill({ response });
  });
  await correct();
  await isFollowed("2 reports left", 2);
  await window.unroute("**/call/correct_with_text");
  // From the report, whose next one follows too.
  await window.getByTestId("action-correct").click();
  await correct();
  await isFollowed("1 report left", 1);
  await window.getByTestId("action-correct").click();
  await correct();
  await expect(window.getByText("All reports of this cause are corrected")).toBeVisible();
});

test("a cause that comes back after all its reports were corrected says so", async ({ window, core }) => {
  const files = core.copies("muster-fehler", 3);
  const [first = "", second = "", third = ""] = files;
  for (const id of await sent(core, [first, second])) {
    const { source } = await core.call("detail", { id });
    await core.call("correct_with_text", { id, text: source.replaceAll("Muster-Fehler", "Muster") });
  }
  await expect.poll(async () => (await core.call("status")).counts).toMatchObject({ needsAttention: 0, completed: 2 });
  await sent(core, [third]);
  await window.getByTestId("nav-correct").click();
  await expect(window.getByTestId("cause-back")).toHaveText("Came back");
  await expect(window.getByTestId("cause-regressed")).toContainText("since then one more came in");
});

test("a cause that was corrected more than two hundred corrections ago, and comes back, says so", async ({
  window,
  core,
}) => {
  // What our own check finds wrong is on hold and is corrected on the spot: nothing need leave for it.
  await core.call("set_paused", { paused: true });
  const wrong = (name: string, count: number, from: RegExp, to: string) =>
    core.copies(name, count, (text) => text.replace(from, to));
  const nobody = (count: number) => wrong("malaria", count, /"gender": "\w+"/, '"gender": "nobody"');
  const finnal = wrong("covid", 201, /"status": "final"/, '"status": "finnal"');
  const [first = "", second = ""] = nobody(2);
  for (const id of await heldOf(core, [first, ...finnal])) {
    const { source } = await core.call("detail", { id });
    await core.call("correct_with_text", { id, text: source.replace("nobody", "male").replace("finnal", "final") });
  }
  await expect.poll(async () => (await core.call("status")).counts.needsAttention).toBe(0);
  await heldOf(core, [second]);
  await window.getByTestId("nav-correct").click();
  await expect(window.getByTestId("cause-back")).toHaveText("Came back");
  await expect(window.getByTestId("cause-regressed")).toContainText("since then one more came in");
});

/** Sends files that are all found wrong, and gives their numbers. */
async function heldOf(core: Core, paths: string[]): Promise<number[]> {
  const { submissions } = await core.send(paths);
  const ids = submissions.flatMap((id) => (id === null ? [] : [id]));
  await expect.poll(async () => (await core.call("status")).counts.byState["held"]).toBe(ids.length);
  return ids;
}

test("of more than a thousand reports of one cause each is looked at, and none is left out", async ({
  window,
  core,
}) => {
  const count = 1_050;
  // A report that our own check finds wrong is on hold: it needs no authority to be one of them.
  await core.send(core.copies("covid", count, (text) => text.replace('"status": "final"', '"status": "finnal"')));
  await expect.poll(async () => (await core.call("status")).counts.byState["held"]).toBe(count);
  await window.getByTestId("nav-correct").click();
  await window.getByTestId("cause-page").getByTestId("fix-once").click();
  await expect(window.getByRole("dialog")).toContainText(/Fix 1.050 reports at once/);
  const preview = window.getByTestId("fix-preview");
  const letGo = await heldBack(window, "fix_preview");
  await window.getByTestId("fix-replace").fill("final");
  // Nothing to press before all of them are known.
  await expect(window.getByTestId("fix-first")).toBeDisabled();
  letGo();
  await expect(preview).toContainText(/Changes 1.050 reports/);
  await window.getByTestId("fix-first").click();
  await expect(window.getByTestId("fix-rest")).toContainText(/1.049/);
});
