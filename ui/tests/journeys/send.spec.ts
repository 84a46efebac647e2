// Sending: the seconds for taking it back, how far it is, and what became of it. All of it counted by the core.

import { copyFileSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "./window";

test.describe("before anything has left", () => {
  test.use({ undoSeconds: 10 });

  test("a batch can be taken back at once, and nothing is sent", async ({ window, core }) => {
    await core.drop([core.sample("covid"), core.sample("malaria"), core.sample("gonorrhoea")]);
    await window.getByRole("button", { name: "Send 3 reports" }).click();
    const batch = window.getByRole("region", { name: "Reports just sent" });
    await expect(batch.getByRole("button", { name: "Undo" })).toBeVisible();
    await expect(batch).toContainText(/3 reports leave in \d+ s/);
    // The keyboard is where the button for sending was.
    await expect(batch.getByRole("button", { name: "Undo" })).toBeFocused();
    await window.keyboard.press("Enter");
    await expect(batch).toContainText("3 reports are on hold: nothing was sent");
    await expect(batch).not.toContainText(/finished|completed/);
    const status = await core.call("status");
    expect(status.counts.byState).toMatchObject({ held: 3, sending: 0, "in-progress": 0, completed: 0 });
  });

  test("files dropped on any screen are looked at, sent by a key, and taken back by a key", async ({
    window,
    core,
  }) => {
    const wrong = readFileSync(core.sample("malaria"), "utf8").replace(
      /"birthDate": ?"[^"]*"/,
      '"birthDate": "2999-01-01"',
    );
    await window.getByTestId("nav-settings").click();
    await core.drop([core.sample("covid"), core.write("wrong.json", wrong)]);
    await expect(window.getByTestId("send-button")).toHaveText("Send 1 report · 1 kept for correction");
    await window.keyboard.press("Control+Enter");
    await expect(window.getByTestId("undo")).toBeVisible();
    await window.keyboard.press("Control+z");
    await expect(window.getByText("on hold: nothing was sent")).toBeVisible();
    const { byState } = (await core.call("status")).counts;
    expect(byState).toMatchObject({ held: 2, queued: 0, sending: 0, "in-progress": 0, completed: 0 });
  });

  test("undo is there before anything has left", async ({ window, core }) => {
    await core.drop([core.sample("covid")]);
    await window.getByRole("button", { name: "Send 1 report" }).waitFor();
    // Measured in the page: from the press to the button being painted.
    const taken = await window.evaluate(async () => {
      const begun = performance.now();
      document.querySelector<HTMLElement>('[data-testid="send-button"]')?.click();
      while (!document.querySelector('[data-testid="undo"]')) await new Promise(requestAnimationFrame);
      return performance.now() - begun;
    });
    // How fast is told and not judged: a computer that is busy with other tests would decide it. What counts is that
    // nothing has left by then.
    await expect
      .poll(async () => (await core.call("status")).counts.byState)
      .toMatchObject({ queued: 1, sending: 0, "in-progress": 0 });
    test.info().annotations.push({ type: "undo after", description: `${Math.round(taken)} ms` });
    await window.keyboard.press("Control+z");
    await expect(window.getByTestId("batch")).toContainText("1 report is on hold");
  });
});

test("what went well leaves with the screen on which it was read, and what needs a person stays", async ({
  window,
  core,
}) => {
  const batch = window.getByTestId("batch");
  await core.drop([core.sample("covid"), core.sample("malaria")]);
  await window.getByTestId("send-button").click();
  await expect(batch).toHaveAttribute("data-phase", "settled");
  await expect(batch).toContainText("All 2 reports are completed");
  await window.getByTestId("nav-overview").click();
  await expect(batch).toHaveCount(0);

  await window.getByTestId("nav-send").click();
  await core.drop([core.sample("gonorrhoea"), core.sample("muster-fehler")]);
  await window.getByTestId("send-button").click();
  await expect(batch).toHaveAttribute("data-phase", "settled");
  await window.getByTestId("nav-overview").click();
  await expect(batch).toContainText("1 needs you");
});

test("the outcome says what is completed and what needs a person", async ({ window, core }) => {
  await core.drop([core.sample("covid"), core.sample("malaria"), core.sample("muster-fehler")]);
  await window.getByRole("button", { name: "Send 3 reports" }).click();
  const outcome = window.getByTestId("outcome");
  await expect(outcome).toHaveText(/^2 completed\s*1 needs you \(1 cause\)$/);
  await expect(window.getByTestId("batch")).toHaveAttribute("data-phase", "settled");
  await expect(window.getByTestId("batch")).not.toContainText("finished");

  // "These" are these, and no others.
  await core.send([core.sample("gonorrhoea")]);
  await window.getByRole("button", { name: "Show these" }).click();
  await expect(window.getByTestId("sent-filter")).toContainText("The 3 reports sent");
  await expect(window.getByTestId("report-row")).toHaveCount(3);
  await window.getByRole("button", { name: "Show all reports" }).click();
  await expect(window.getByTestId("report-row")).toHaveCount(4);

  // The one that needs somebody is one press away.
  await window.getByRole("button", { name: "Correct it" }).click();
  await expect(window.getByTestId("detail-state")).toHaveAttribute("data-state", "failed");
});

test("600 reports are held back, all of them: more than a page of the list", async ({ window, core }) => {
  test.slow();
  const preferences = await core.call("preferences");
  await core.call("set_preferences", { preferences: { ...preferences, undoSeconds: 30 } });
  const files = core.copies("covid", 600);
  await core.drop([files[0]?.replace(/[^/]+$/, "") ?? ""]);
  await window.getByRole("button", { name: "Send 600 reports" }).click({ timeout: 240_000 });
  // Once all are taken in: before that it stops, and the rest stays on the list.
  await window.getByTestId("batch").getByTestId("undo").click();
  await expect(window.getByTestId("batch")).toContainText("600 reports are on hold: nothing was sent");
  const { counts } = await core.call("status");
  expect(counts.byState).toMatchObject({ held: 600, queued: 0 });

  // They are drawn few at a time, to the last one.
  await window.getByTestId("nav-reports").click();
  const list = window.getByTestId("report-list");
  const rows = window.getByTestId("report-row");
  await expect(rows.first()).toBeVisible();
  const seen = new Set<string>();
  const scrolled = async () => {
    await list.evaluate(async (element) => {
      // From the beginning again, where a busy computer drew some too late to be seen.
      const isAtEnd = element.scrollTop + element.clientHeight >= element.scrollHeight - 1;
      element.scrollTo(0, isAtEnd ? 0 : element.scrollTop + element.clientHeight / 2);
      await new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)));
    });
    const drawn = await rows.evaluateAll((found) => found.map((row) => row.dataset.id ?? ""));
    expect(drawn.length, "rows that are drawn").toBeLessThan(60);
    for (const id of drawn) seen.add(id);
    return seen.size;
  };
  await expect.poll(scrolled, { intervals: [20] }).toBe(600);
});

test("a core that does not answer is never taken for finished", async ({ window, core }) => {
  await window.route("**/call/batch", (route) =>
    route.fulfill({
      status: 400,
      json: { code: "journal-closed", params: {}, blame: "us", remedy: "look-again", trace: "test" },
    }),
  );
  await core.drop([core.sample("covid")]);
  await window.getByRole("button", { name: "Send 1 report" }).click();
  await expect(window.getByTestId("batch")).toContainText("cannot be said now");
  await expect(window.getByTestId("batch")).not.toContainText(/completed|finished/);
});

test("a pasted report is a row: it is looked at, left out or sent with the files, and never by itself", async ({
  window,
  core,
}) => {
  const content = readFileSync(core.sample("covid"), "utf8");
  const paste = (text: string) =>
    window.evaluate((pasted) => {
      const clipboardData = new DataTransfer();
      clipboardData.setData("text/plain", pasted);
      document.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true }));
    }, text);
  // The list listens once it stands there.
  await expect(window.getByTestId("paste-text").first()).toBeVisible();
  await paste("see the attached report");
  await expect(window.getByTestId("candidate-row")).toHaveAttribute("data-verdict", "refused");
  await window.getByRole("button", { name: "Remove Pasted report 1" }).click();
  await paste(content);
  const row = window.getByTestId("candidate-row");
  await expect(row).toHaveAttribute("data-verdict", /ready|warnings/);
  await expect(row).toContainText("Pasted report 1");
  await expect.poll(async () => (await core.call("status")).counts.byState).toMatchObject({ queued: 0, completed: 0 });
  await core.drop([core.sample("malaria")]);
  await expect(row).toHaveCount(2);
  // Whoever writes in a dialog does not mean the list behind it.
  await window.getByTestId("paste-text").click();
  await window.getByTestId("paste-content").fill("half a report");
  await window.keyboard.press("Control+Enter");
  await window.getByTestId("paste-content").fill("");
  await window.keyboard.press("Escape");
  await expect(window.getByRole("dialog")).toHaveCount(0);
  await expect(row).toHaveCount(2);
  const calls: string[] = [];
  window.on("request", (request) =>
    calls.push(...(/\/call\/(hand_over|correct_\w+)$/.exec(request.url())?.slice(1) ?? [])),
  );
  await window.getByRole("button", { name: "Send 2 reports" }).click();
  await expect(window.getByTestId("outcome")).toHaveText("All 2 reports are completed");
  // One call for all of it: a page that goes away in the middle leaves nothing behind.
  expect(calls).toEqual(["hand_over"]);

  // Known like any file, and by the button as by the key.
  await window.getByTestId("paste-text").click();
  await window.getByTestId("paste-content").fill(content);
  await window.getByTestId("paste-add").click();
  await expect(row).toHaveAttribute("data-verdict", "known");
});

test("one switch for a folder says how many of it go again, and what nobody asked for stays", async ({
  window,
  core,
}) => {
  const files = core.copies("covid", 3);
  const folder = files[0]?.replace(/[^/]+$/, "") ?? "";
  await core.send(files);
  await expect.poll(async () => (await core.call("status")).counts.completed).toBe(3);
  await core.drop([folder]);
  const button = window.getByTestId("send-button");
  await expect(window.getByTestId("candidate-row")).toHaveCount(3);
  await expect(button).toBeDisabled();
  // None beside a single one of them: it would mean all.
  await expect(window.getByRole("switch", { name: /again/ })).toHaveCount(1);
  await window.getByText(/Send all 3 known reports of .* again/).click();
  await expect(button).toHaveText("Send 3 reports");
  await window.getByRole("button", { name: "Clear list" }).click();

  // Beside a new file the known ones stay where they are.
  await core.drop([files[0] ?? "", core.sample("malaria")]);
  await window.getByRole("button", { name: "Send 1 report" }).click();
  await expect.poll(async () => (await core.call("status")).counts.completed).toBe(4);
  await expect(window.getByTestId("batch")).toContainText("1");
  await expect(window.getByTestId("candidate-row")).toHaveCount(0);
});

test("a folder that is dropped again is looked at again, and nothing is sent that was not shown", async ({
  window,
  core,
}) => {
  const out = join(core.folder, "out");
  mkdirSync(out);
  const put = (name: string, to: string) => copyFileSync(core.sample(name), join(out, to));
  const completed = async () => (await core.call("status")).counts.completed;
  const button = window.getByTestId("send-button");
  const rows = window.getByTestId("candidate-row");
  put("covid", "a.json");
  await core.drop([out]);
  await button.click();
  await expect.poll(completed).toBe(1);
  await core.drop([out]);
  await expect(rows).toHaveAttribute("data-verdict", "known");

  // As an hour later: one more lies there.
  put("malaria", "b.json");
  await core.drop([out]);
  await expect(button).toHaveText("Send 1 report");
  await expect(rows).toHaveCount(2);

  // While somebody looks at the list another one is written there.
  put("gonorrhoea", "c.json");
  await button.click();
  await expect(window.getByText("Files have changed since they were looked at")).toBeVisible();
  await expect.poll(completed).toBe(2);
  await expect(button).toHaveText("Send 1 report");
  await expect(rows).toHaveCount(3);
  await window.keyboard.press("Control+Enter");
  await expect.poll(completed).toBe(3);
});

test("what is dropped once more while it is handed over stays on the list", async ({ window, core }) => {
  const out = join(core.folder, "out");
  mkdirSync(out);
  const put = (name: string, to: string) => copyFileSync(core.sample(name), join(out, to));
  put("covid", "a.json");
  await core.drop([out]);
  const rows = window.getByTestId("candidate-row");
  await expect(rows).toHaveCount(1);
  // The core is done, and the page does not know it yet.
  let letGo = () => {};
  const held = new Promise<void>((go) => (letGo = go));
  await window.route("**/call/hand_over", async (route) => {
    const response = await route.fetch();
    await held;
    await route.fulfill({ response });
  });
  await window.getByTestId("send-button").click();
  await expect.poll(async () => (await core.call("status")).counts.completed).toBe(1);
  put("malaria", "b.json");
  await core.drop([out]);
  await expect(rows).toHaveCount(2);
  letGo();
  await expect(window.getByTestId("outcome")).toHaveText("The report is completed");
  // What has come into it since is still to be sent.
  await expect(rows).toHaveCount(2);
  await expect(window.getByTestId("send-button")).toHaveText("Send 1 report");
});

test("a page that goes away in the middle leaves nothing undone, and the next one is told", async ({
  window,
  core,
}) => {
  test.slow();
  // So many that they are still being taken in when the page has begun anew, on the fastest computer too.
  const count = 800;
  await core.drop([core.copies("covid", count)[0]?.replace(/[^/]+$/, "") ?? ""]);
  await expect(window.getByTestId("send-button")).toHaveText(`Send ${count} reports`, { timeout: 120_000 });
  const asked = window.waitForRequest("**/call/hand_over");
  await window.getByTestId("send-button").click();
  await asked;
  await window.reload();
  await expect(window.getByText("A list was handed over and nobody saw the end of it")).toBeVisible({
    timeout: 120_000,
  });
  await expect(
    window.getByText(`${count} reports of it are sent without anybody’s help; none needs a person`),
  ).toBeVisible();
  const { counts } = await core.call("status");
  expect(Object.values(counts.byState).reduce((sum, n) => sum + n, 0)).toBe(count);
});

test("a file with the identifier of a completed report is asked about, and stays unsent until somebody has said what it is", async ({
  window,
  core,
}) => {
  const first = core.sample("covid");
  await core.send([first]);
  await expect.poll(async () => (await core.call("status")).counts.completed).toBe(1);
  const whole = readFileSync(first, "utf8");
  const changed = whole.replace(/"family": ?"([^"]*)"/, '"family": "Anders"');
  expect(changed).not.toBe(whole);
  const asked = core.write("asked.json", changed);
  await core.drop([asked, core.sample("malaria")]);
  const row = window.getByTestId("candidate-row").filter({ hasText: "asked.json" });
  await expect(row).toContainText("To be decided");
  await window.getByRole("button", { name: "Send 1 report", exact: true }).click();
  await expect(window.getByTestId("batch")).toHaveAttribute("data-phase", "settled");
  // It is still there, and still the question.
  await expect(row).toContainText("To be decided");
  await expect(window.getByTestId("send-button")).toBeDisabled();
  expect((await core.call("status")).counts.completed).toBe(2);
  await row.getByText("Send it as well, beside the other one").click();
  await window.getByRole("button", { name: "Send 1 report", exact: true }).click();
  await expect.poll(async () => (await core.call("status")).counts.completed).toBe(3);
});

test("of two reports with one identifier in one drop goes the one that a person has chosen", async ({
  window,
  core,
}) => {
  const [file = ""] = core.copies("covid", 1);
  const whole = readFileSync(file, "utf8");
  const other = core.write("other.json", whole.replace(/"family": ?"[^"]*"/, '"family": "Anders"'));
  await core.drop([file, other, core.sample("malaria")]);
  const rows = window.getByTestId("candidate-row").filter({ has: window.getByTestId("rival") });
  await expect(rows).toHaveCount(2);
  await expect(window.getByTestId("send-button")).toHaveText("Send 1 report");
  await expect(rows.filter({ hasText: "To be decided" })).toHaveCount(2);
  await rows.last().getByText("Send this one").click();
  await expect(rows.filter({ hasText: "To be decided" })).toHaveCount(1);
  await window.getByRole("button", { name: "Send 2 reports" }).click();
  await expect.poll(async () => (await core.call("status")).counts.completed).toBe(2);
  // The other one is still there, and is asked about beside the one that has gone.
  const left = window.getByTestId("candidate-row");
  await expect(left).toHaveCount(1);
  await expect(left).toContainText("Same identifier as another report");
  await expect(window.getByTestId("send-button")).toBeDisabled();
});

test("what many files share is said once, one of a folder can be left out, and known files go again by one switch", async ({
  window,
  core,
}) => {
  const folder = join(core.folder, "out");
  mkdirSync(folder);
  for (const path of core.copies("covid", 4, (content) =>
    content.replace(/(effectiveDateTime": ?")\d{4}/g, "$12021"),
  )) {
    copyFileSync(path, join(folder, path.replace(/.*\//, "")));
  }
  await core.drop([folder]);
  const rows = window.getByTestId("candidate-row");
  await expect(rows).toHaveCount(4);
  await expect(window.getByTestId("send-shared")).toContainText("4 tests are older than 360 days");
  await expect(rows.first()).toContainText("Ready");
  await expect(rows.first()).not.toContainText("with warnings");
  await window.getByRole("button", { name: "Remove covid-002.json" }).click();
  await expect(rows).toHaveCount(3);
  await window.getByRole("button", { name: "Send 3 reports" }).click();
  await expect.poll(async () => (await core.call("status")).counts.completed).toBe(3);
  await expect(rows).toHaveCount(0);

  await core.drop(["001", "003"].map((number) => join(folder, `covid-${number}.json`)));
  await expect(rows).toHaveCount(2);
  await expect(window.getByTestId("send-button")).toBeDisabled();
  await window.getByText("Send these 2 reports again").click();
  await expect(window.getByRole("button", { name: "Send 2 reports" })).toBeEnabled();
});

test("a certificate on the list of Send leads to its import", async ({ window, core }) => {
  await core.drop([
    core.write("given.pem", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"),
    core.sample("covid"),
  ]);
  await window.getByTestId("import-this-certificate").click();
  // It is damaged, and no password would help.
  await expect(window.getByRole("alert")).toContainText("The file is damaged");
  await expect(window.getByText("given.pem")).toBeVisible();
});
