// From a report that failed to one that is completed: by the form, by the source, by a file that was exported anew.

import { readFileSync } from "node:fs";

import { expect, heldBack, replaceAll, sound, test } from "./window";
import type { Core } from "./window";

/** Sends files and waits until each is finished; the numbers of those that failed. */
async function failed(core: Core, paths: string[]): Promise<number[]> {
  const sent = await core.send(paths);
  const ids = sent.submissions.flatMap((id) => (id === null ? [] : [id]));
  await expect.poll(async () => (await core.call("batch", { ids })).moving).toBe(0);
  return (await core.call("batch", { ids })).attention;
}

const corrected = (content: string) => content.replaceAll("Muster-Fehler", "Muster");

test("corrected files dropped on Send take the place of the reports that failed", async ({ window, core }) => {
  const files = core.copies("muster-fehler", 4);
  expect(await failed(core, files)).toHaveLength(4);
  const exported = files.map((file) =>
    core.write(file.replace(/.*\//, "corrected-"), corrected(readFileSync(file, "utf8"))),
  );
  await core.drop(exported);
  await expect(window.getByText("4 of these files correct reports that need correction")).toBeVisible();
  const [first] = await window.getByTestId("corrects").all();
  await expect(first ?? window.locator("x")).toContainText("Corrects a report of yours: Failed");
  // Names are masked until somebody asks for them: also in what differs, of which the element and the kind are told.
  const row = window.getByTestId("candidate-row").first();
  await expect(first ?? window.locator("x")).toContainText("Family name = M…");
  await expect(row).not.toContainText("Muster");
  await sound(window);
  await window.getByRole("button", { name: "Show names" }).click();
  await expect(first ?? window.locator("x")).toContainText('"family": "Muster-Fehler"');
  await expect(first ?? window.locator("x")).toContainText('"family": "Muster"');
  await expect(row).toContainText("Muster, ");
  const masked = window.getByRole("switch", { name: "Mask names" });
  await expect(masked).not.toBeChecked();
  await window.getByTestId("send-masked").click();
  await expect(row).not.toContainText("Muster");
  await expect(masked).toBeChecked();
  await window.getByRole("button", { name: "Send 4 reports" }).click();
  await expect(window.getByTestId("outcome")).toHaveText("All 4 reports are completed");
  const { counts } = await core.call("status");
  expect(counts).toMatchObject({ needsAttention: 0, completed: 4, closed: 4 });
});

// What is read and typed below names patients.
test.describe("with names", () => {
  test.use({ showsNames: true });

  test("the same files can be sent as reports of their own", async ({ window, core }) => {
    const files = core.copies("muster-fehler", 2);
    await failed(core, files);
    const drop = (at: number) =>
      core.drop([core.write(`again-${at}.json`, corrected(readFileSync(files[at] ?? "", "utf8")))]);
    await drop(0);
    await window.getByText("These are separate reports").click();
    await expect(window.getByTestId("corrects")).toContainText("sent as a report of its own");
    await window.getByRole("button", { name: "Send 1 report" }).click();
    await expect(window.getByTestId("batch")).toHaveAttribute("data-phase", "settled");
    await expect.poll(async () => (await core.call("status")).counts.needsAttention).toBe(2);
    // That was said of one list, and of no other.
    await drop(1);
    await expect(window.getByText("1 of these files corrects a report that needs correction")).toBeVisible();
    await expect(window.getByRole("switch", { name: "These are separate reports" })).not.toBeChecked();
  });

  test("a value is corrected in the form, the difference is in sight, and the next one follows", async ({
    window,
    core,
  }) => {
    await failed(core, core.copies("muster-fehler", 2));
    await window.getByTestId("nav-correct").click();
    await window.getByTestId("report-row").first().click();
    await window.getByTestId("action-correct").click();
    const dialog = window.getByRole("dialog");
    const family = dialog.getByRole("textbox", { name: "Family name" });
    await expect(family).toHaveValue("Muster-Fehler");
    await expect(dialog.getByRole("button", { name: "Send the correction" })).toBeDisabled();
    await family.fill("Muster");
    const summary = window.getByTestId("correct-summary");
    await expect(summary).toContainText("1 line changed");
    await expect(summary).toContainText("Muster-Fehler");
    await expect(summary).toContainText("The check on this computer found nothing wrong");
    // The source follows the form.
    await expect(dialog.getByRole("textbox", { name: "Source" })).toContainText('"family": "Muster"');
    await window.keyboard.press("Control+Enter");
    await expect(dialog).toHaveCount(0);
    await expect(window.getByTestId("batch")).toHaveAttribute("data-phase", "settled");
    await expect(window.getByTestId("outcome")).toHaveText("The report is completed");
    await expect(window.getByTestId("detail-state")).toHaveAttribute("data-state", "failed");
    await expect
      .poll(async () => (await core.call("status")).counts)
      .toMatchObject({ needsAttention: 1, completed: 1 });
  });

  test("a correction that still has errors is kept on hold, and nothing calls it done", async ({ window, core }) => {
    await failed(core, core.copies("muster-fehler", 1));
    await window.getByTestId("nav-correct").click();
    await window.getByTestId("report-row").first().click();
    await window.getByTestId("action-correct").click();
    const dialog = window.getByRole("dialog");
    const source = dialog.getByRole("textbox", { name: "Source" });
    const { source: whole } = await core.call("detail", { id: 1 });
    await replaceAll(source, whole.replace(/"birthDate": ?"[^"]*"/, '"birthDate": "1980-13-01"'));
    await expect(window.getByTestId("correct-send")).toHaveText("Keep on hold with 1 error");
    await window.getByTestId("correct-send").click();
    await expect(dialog).toHaveCount(0);
    await expect(window.getByText("The correction is on hold: it still has errors")).toBeVisible();
    await expect(window.getByTestId("detail-state")).toHaveAttribute("data-state", "held");
    await expect(window.getByText("All reports of this cause are corrected")).toHaveCount(0);
    // No calendar has this day: it stands as it was written.
    await expect(window.getByTestId("detail")).toContainText("1980-13-01");
    await expect(window.getByTestId("detail")).not.toContainText("T12:00");
  });

  test("an emptied field takes its value out of the report, or says at once that the report needs it", async ({
    window,
    core,
  }) => {
    const changed = (name: string, from: RegExp, to: string) => {
      const whole = readFileSync(core.sample(name), "utf8");
      expect(whole).toMatch(from);
      return core.write(`${name}-changed.json`, whole.replace(from, to));
    };
    const optional = changed("malaria", /"birthDate"/, '"deceasedDateTime": "never", "birthDate"');
    const needed = changed("covid", /"date": "/, '"date": "about ');
    expect(await failed(core, [optional, needed])).toHaveLength(2);
    const dialog = window.getByRole("dialog");
    const open = async (name: string) => {
      await window.getByTestId("nav-reports").click();
      await window.getByTestId("report-row").filter({ hasText: name }).click();
      await window.getByTestId("action-correct").click();
    };
    // What the report needs stays, in sight, and nothing is sent.
    await open("COVID");
    const date = dialog.getByTestId("form-Composition.date");
    const before = await date.inputValue();
    await date.fill("");
    await expect(dialog).toContainText("Once you leave this field, the value is taken out of the report.");
    await window.keyboard.press("Control+Enter");
    await expect(dialog).toContainText("The report needs this value, so it stays.");
    await expect(date).toHaveValue(before);
    await sound(window);
    await date.fill(before.replace("about ", ""));
    await expect(dialog).not.toContainText("The report needs this value");
    await window.keyboard.press("Control+Enter");
    await expect(dialog).toHaveCount(0);

    // What it does not need goes, with its difference in sight, and comes back with Undo.
    await open("Malaria");
    const deceased = dialog.getByTestId(/^form-Patient.deceased/);
    await expect(deceased).toHaveValue("never");
    await deceased.fill("");
    await window.keyboard.press("Tab");
    const summary = window.getByTestId("correct-summary");
    await expect(summary).toContainText("1 line changed");
    await expect(dialog.getByText("The messages point to no single value.")).toBeVisible();
    await dialog.getByTestId("undo-edit").click();
    await expect(deceased).toHaveValue("never");
    await deceased.fill("");
    await dialog.getByTestId("correct-send").click();
    await expect(dialog).toHaveCount(0);
    await expect.poll(async () => (await core.call("status")).counts.completed).toBe(2);
    await expect.poll(async () => (await core.call("status")).counts.needsAttention).toBe(0);
  });

  test("what was typed is a draft that outlives the window, and what goes missing is told", async ({
    window,
    core,
  }) => {
    const [id] = await failed(core, core.copies("muster-fehler", 1));
    await window.getByTestId("nav-correct").click();
    await window.getByTestId("report-row").first().click();
    await window.getByTestId("action-correct").click();
    const source = window.getByRole("dialog").getByRole("textbox", { name: "Source" });
    await source.click();
    await window.keyboard.press("Control+f");
    await window.keyboard.press("Escape");
    const { source: sent } = await core.call("detail", { id: id ?? 0 });
    await replaceAll(source, sent.replace(/\n.*"family".*\n/, "\n"));
    await expect(window.getByRole("alert").filter({ hasText: "is gone now: Family name" })).toBeVisible();
    await expect.poll(() => core.call("draft", { id: id ?? 0 })).toContain("Patient");
    await window.reload();
    await window.getByTestId("nav-correct").click();
    await window.getByTestId("report-row").first().click();
    const action = window.getByTestId("action-correct");
    await expect(action).toHaveText("Continue the draft");
    await action.click();
    await expect(window.getByText("Your draft of earlier is here again")).toBeVisible();
    await window.getByRole("button", { name: "Start again from the original" }).click();
    await expect(window.getByText("Nothing is changed yet")).toBeVisible();
    // What is as it was sent is no draft.
    await expect.poll(() => core.call("draft", { id: id ?? 0 })).toBe(sent);
    await window.keyboard.press("Escape");
    await expect(window.getByRole("dialog")).toHaveCount(0);
    await expect(action).toHaveText("Correct");
    // What was left open and typed in is one.
    await action.click();
    await window.getByTestId("hidden-form-Patient.name.family").click();
    await window.getByRole("dialog").getByRole("textbox", { name: "Family name" }).fill("Mus");
    await expect.poll(() => core.call("draft", { id: id ?? 0 })).toContain('"Mus"');
    await window.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();
    await expect(action).toHaveText("Continue the draft");
    // It is not thrown away in passing: the button asks, and the key only says so.
    await window.getByTestId("action-resubmit").click();
    await expect(window.getByRole("dialog")).toContainText("The draft is lost by it");
    await window.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();
    await window.keyboard.press("r");
    await expect(window.getByRole("alertdialog")).toContainText("There is a draft");
    await expect(window.getByTestId("detail-state")).toHaveAttribute("data-state", "failed");
    await expect(action).toHaveText("Continue the draft");
    await action.click();
    await window.getByRole("dialog").getByRole("textbox", { name: "Family name" }).fill("Muster");
    await window.keyboard.press("Control+Enter");
    await expect(window.getByRole("dialog")).toHaveCount(0);
    await expect(action).toHaveCount(0);
  });

  test("many reports of one cause are fixed once: one goes first, and the others are taken up after a reload", async ({
    window,
    core,
  }) => {
    expect(await failed(core, core.copies("muster-fehler", 12))).toHaveLength(12);
    await window.getByTestId("nav-correct").click();
    await window.getByTestId("fix-once").click();
    const dialog = window.getByRole("dialog");
    await expect(dialog.getByTestId("fix-find")).toContainText("Muster-Fehler (12 reports)");
    await dialog.getByRole("textbox", { name: "Put this instead" }).fill("Muster");
    await expect(window.getByTestId("fix-preview")).toContainText(
      "Changes 12 reports · 0 still with errors · 0 unchanged",
    );
    await expect(window.getByTestId("fix-preview")).toContainText("Muster-Fehler");
    await dialog.getByRole("button", { name: "Send one first" }).click();
    await expect(dialog).toContainText("Waiting for the authority");
    await expect(dialog).toContainText("The first is completed. 11 are left.");
    await expect
      .poll(async () => (await core.call("status")).counts)
      .toMatchObject({ needsAttention: 11, completed: 1 });
    await expect(window.getByTestId("fix-rest"), "Enter sends the others").toBeFocused();
    // Whoever goes away now finds it again: it is kept in the journal, and its name is hidden with the others.
    await window.keyboard.press("Escape");
    await expect(dialog).toHaveCount(0);
    const brokenOff = window.getByTestId("fix-broken-off");
    await expect(brokenOff).toContainText("“Muster-Fehler” replaced by “Muster”. 1 sent, 11 left.");
    await sound(window);
    await window.reload();
    await window.getByTestId("nav-correct").click();
    await expect(brokenOff).toContainText("Correction interrupted1 sent, 11 left.");
    await window.getByTestId("fix-take-up").click();
    await dialog.getByRole("button", { name: "Send the 11 that are left" }).click();
    await expect(dialog).toContainText("All done: 11 completed");
    await expect
      .poll(async () => (await core.call("status")).counts)
      .toMatchObject({ needsAttention: 0, completed: 12 });
  });

  test("a fix that does not help stops after the first", async ({ window, core }) => {
    await failed(core, core.copies("muster-fehler", 3));
    await window.getByTestId("nav-correct").click();
    await window.getByTestId("fix-once").click();
    const dialog = window.getByRole("dialog");
    // Another value is changed on the way than the one that the authority minds, so that it fails the correction.
    await window.route("**/call/fix", async (route) => {
      const asked = route.request().postDataJSON() as object;
      const other = { ...asked, path: "Patient.name.given", find: "Fritz", replace: "Niemand" };
      await route.continue({ postData: JSON.stringify(other) });
    });
    await dialog.getByRole("textbox", { name: "Put this instead" }).fill("Muster");
    await dialog.getByRole("button", { name: "Send one first" }).click();
    await expect(dialog).toContainText("Stopped: 0 completed, 1 failed");
    await expect
      .poll(async () => (await core.call("status")).counts)
      .toMatchObject({ needsAttention: 3, completed: 0 });
  });

  test("stopped while nothing leaves, what was begun is held back, and it is said", async ({ window, core }) => {
    await failed(core, core.copies("muster-fehler", 3));
    await core.call("set_paused", { paused: true });
    await window.getByTestId("nav-correct").click();
    await window.getByTestId("fix-once").click();
    const dialog = window.getByRole("dialog");
    await dialog.getByTestId("fix-replace").fill("Muster");
    await dialog.getByTestId("fix-first").click();
    await expect(dialog.getByTestId("fix-progress")).toContainText("One is on its way");
    await expect.poll(async () => (await core.call("status")).counts.byState.queued).toBe(1);
    await dialog.getByRole("button", { name: "Stop" }).click();
    await expect(dialog.getByTestId("fix-progress")).toContainText(
      "0 completed, 0 failed. 1 on hold, not sent before you decide. Nothing more is sent.",
    );
    await core.call("set_paused", { paused: false });
    await expect
      .poll(async () => (await core.call("status")).counts.byState)
      .toMatchObject({ held: 1, queued: 0, completed: 0, failed: 2 });
  });

  test("what was typed into the form last is sent, however long it takes into the text", async ({ window, core }) => {
    await failed(core, core.copies("muster-fehler", 1));
    await window.getByTestId("nav-correct").click();
    await window.getByTestId("report-row").first().click();
    await window.getByTestId("action-correct").click();
    const family = window.getByRole("dialog").getByRole("textbox", { name: "Family name" });
    await family.fill("Mus");
    await expect(window.getByTestId("correct-summary")).toContainText("1 line changed");
    const letGo = await heldBack(window, "edit_draft");
    await family.fill("Muster");
    const sent = window.waitForRequest("**/call/correct_with_text");
    await window.keyboard.press("Control+Enter");
    letGo();
    expect(((await sent).postDataJSON() as { text: string }).text).toContain('"Muster"');
  });

  test("the key that sends is not lost while the first that was typed is on its way into the text", async ({
    window,
    core,
  }) => {
    await failed(core, core.copies("muster-fehler", 1));
    await window.getByTestId("nav-correct").click();
    await window.getByTestId("report-row").first().click();
    await window.getByTestId("action-correct").click();
    const dialog = window.getByRole("dialog");
    const family = dialog.getByRole("textbox", { name: "Family name" });
    await expect(family).toHaveValue("Muster-Fehler");
    const letGo = await heldBack(window, "edit_draft");
    await family.fill("Muster");
    await expect(dialog.getByTestId("correct-send")).toBeEnabled();
    await window.keyboard.press("Control+Enter");
    letGo();
    await expect(dialog).toHaveCount(0);
    await expect
      .poll(async () => (await core.call("status")).counts)
      .toMatchObject({ completed: 1, needsAttention: 0 });
  });

  test("what was typed into the source last is sent by the very next key", async ({ window, core }) => {
    const [id] = await failed(core, core.copies("muster-fehler", 1));
    await window.getByTestId("nav-correct").click();
    await window.getByTestId("report-row").first().click();
    await window.getByTestId("action-correct").click();
    const source = window.getByRole("dialog").getByRole("textbox", { name: "Source" });
    await source.press("Control+a");
    const text = corrected((await core.call("detail", { id: id ?? 0 })).source);
    const sent = window.waitForRequest("**/call/correct_with_text");
    // Both in one turn of the page: nothing is drawn between them.
    await source.evaluate((element, pasted) => {
      const clipboardData = new DataTransfer();
      clipboardData.setData("text/plain", pasted);
      element.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
      element.dispatchEvent(
        new KeyboardEvent("keydown", { key: "Enter", ctrlKey: true, bubbles: true, composed: true }),
      );
    }, text);
    expect(((await sent).postDataJSON() as { text: string }).text).toBe(text);
  });

  test("what the window has just said in its corner stops neither a drop nor a key", async ({ window, core }) => {
    const [file] = core.copies("muster-fehler", 1);
    await failed(core, [file ?? ""]);
    await window.getByTestId("nav-reports").click();
    await window.getByTestId("report-row").click();
    await expect(window.getByTestId("action-correct")).toBeVisible();
    const exported = core.write("corrected.json", corrected(readFileSync(file ?? "", "utf8")));
    // A message that stays until it is closed: while a dialog is open, nothing is taken.
    await window.keyboard.press("?");
    await expect(window.getByRole("dialog")).toBeVisible();
    await core.drop([exported]);
    const message = window.getByRole("alertdialog").filter({ hasText: "Nothing was taken" });
    await expect(message).toBeVisible();
    await window.keyboard.press("Escape");
    await expect(window.getByRole("dialog")).toHaveCount(0);
    await core.drop([exported]);
    await window.getByTestId("drop-as-correction").click();
    await window.getByTestId("drop-correct").click();
    await expect(window.getByTestId("detail-state")).toHaveAttribute("data-state", "completed");
    await expect(message).toBeVisible();
    // Each of the two leads to the other.
    await window.getByTestId("predecessor").click();
    await expect(window.getByTestId("detail-state")).toHaveAttribute("data-state", "superseded");
    await window.keyboard.press("Escape");
    await expect(window.getByTestId("detail")).toHaveCount(0);
  });

  test("what is no report is not asked to be the correction of the one that is open", async ({ window, core }) => {
    const [file] = core.copies("muster-fehler", 1);
    await failed(core, [file ?? ""]);
    await window.getByTestId("nav-reports").click();
    await window.getByTestId("report-row").click();
    await expect(window.getByTestId("action-correct")).toBeVisible();
    await core.drop([core.write("letter.pdf", "%PDF-1.7")]);
    await expect(window.getByTestId("candidate-row")).toContainText("PDF");
    await expect(window.getByRole("dialog")).toHaveCount(0);
  });

  test("a corrected file dropped on the form of the correction is that correction", async ({ window, core }) => {
    const [file] = core.copies("muster-fehler", 1);
    await failed(core, [file ?? ""]);
    await window.getByTestId("nav-correct").click();
    await window.getByTestId("report-row").first().click();
    await window.getByTestId("action-correct").click();
    await expect(window.getByTestId("correct-choose")).toBeVisible();
    await window.getByTestId("form-Patient.name.family").fill("Halb-getippt");
    await expect(window.getByTestId("correct-summary")).toContainText("Halb-getippt");
    // Another report is shown as one, and nothing is sent by the drop itself.
    await core.drop([core.sample("malaria")]);
    await expect(window.getByText("It does not correct the open report")).toBeVisible();
    await window.keyboard.press("Escape");
    await expect(window.getByText("It does not correct the open report")).toHaveCount(0);
    await expect
      .poll(async () => (await core.call("status")).counts)
      .toMatchObject({ needsAttention: 1, completed: 0, inProgress: 0, closed: 0 });
    await core.drop([core.write("corrected.json", corrected(readFileSync(file ?? "", "utf8")))]);
    await expect(window.getByText("It does not correct the open report")).toHaveCount(0);
    await expect(window.getByTestId("drop-correct")).toBeEnabled();
    // What was typed below is lost by it: that is said, and the key sends neither.
    await expect(window.getByTestId("drafts-note")).toContainText("The draft is lost by it");
    await window.keyboard.press("Control+Enter");
    expect((await core.call("status")).counts.completed).toBe(0);
    await window.getByTestId("drop-correct").click();
    await expect(window.getByRole("dialog")).toHaveCount(0);
    await expect(window.getByTestId("outcome")).toHaveText("The report is completed");
    await expect
      .poll(async () => (await core.call("status")).counts)
      .toMatchObject({ needsAttention: 0, completed: 1, closed: 1 });
    for (const id of [1, 2])
      await expect.poll(async () => (await core.call("detail", { id })).source).not.toContain("Halb-getippt");
  });
});
