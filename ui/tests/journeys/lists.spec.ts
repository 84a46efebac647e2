// Many reports at once: chosen by mouse and keyboard, decided together, told one by one; sorted, counted, kept as views.

import { readFileSync } from "node:fs";
import { join } from "node:path";

import { expect, sound, test } from "./window";
import type { Core } from "./window";

/** Sends files and waits until each is finished. */
async function sent(core: Core, paths: string[]): Promise<number[]> {
  const { submissions } = await core.send(paths);
  const ids = submissions.flatMap((id) => (id === null ? [] : [id]));
  await expect.poll(async () => (await core.call("batch", { ids })).moving).toBe(0);
  return ids;
}

test("reports are chosen by box, range and key, and one decision says for which it was not done", async ({
  window,
  core,
}) => {
  await sent(core, [...core.copies("muster-fehler", 3), core.sample("covid"), core.sample("malaria")]);
  await core.call("set_preferences", { preferences: { ...(await core.call("preferences")), undoSeconds: 30 } });
  await window.getByTestId("nav-reports").click();
  const rows = window.getByTestId("report-row");
  await expect(rows).toHaveCount(5);

  // By its box, then a range with Shift; nothing is opened by it.
  await rows.nth(0).getByTestId("choose-row").click();
  await rows.nth(2).click({ modifiers: ["Shift"] });
  await expect(window.getByTestId("chosen-count")).toHaveText("3 reports chosen");
  await expect(window.getByTestId("detail")).toHaveCount(0);
  await window.keyboard.press("Escape");
  await expect(window.getByTestId("bulk-bar")).toHaveCount(0);

  // By the keyboard alone: the first, two more below it, and then all.
  await window.getByTestId("report-list").focus();
  await window.keyboard.press("j");
  await window.keyboard.press("Space");
  await window.keyboard.press("Shift+ArrowDown");
  await expect(window.getByTestId("chosen-count")).toHaveText("2 reports chosen");
  await window.keyboard.press("Control+a");
  await expect(window.getByTestId("chosen-count")).toHaveText("5 reports chosen");
  await sound(window);

  // Three failed and can be sent again; the two that are completed are told.
  await window.getByTestId("bulk-resubmit").click();
  const decided = window.getByTestId("decided");
  await expect(decided).toContainText("3 reports are sent again");
  await expect(decided).toContainText("Not done for 2 reports");
  await expect(window.getByTestId("bulk-bar")).toHaveCount(0);
  await decided.getByTestId("decided-why").click();
  await expect(window.getByTestId("decided-reason")).toHaveCount(1);
  await expect(window.getByTestId("decided-reason")).toContainText(/^2/);
  await window.getByTestId("decided-reason").getByRole("button").click();
  await expect(window.getByTestId("sent-filter")).toContainText("2 reports, picked out");
  await expect(rows).toHaveCount(2);

  // One undo for all three, in the bar that follows what is sent.
  await window.getByTestId("undo").click();
  await expect(window.getByTestId("batch")).toContainText("3 reports are on hold: nothing was sent");
  await expect.poll(async () => (await core.call("status")).counts.byState).toMatchObject({ held: 3, completed: 2 });
});

test("what waits is stopped and goes on by one undo; what is not reportable is told with its reason", async ({
  window,
  core,
}) => {
  await core.call("set_paused", { paused: true });
  const { submissions } = await core.send(core.copies("covid", 3));
  await window.getByTestId("nav-reports").click();
  await window.getByTestId("choose-all").click();
  await window.getByTestId("bulk-hold-back").click();
  await expect(window.getByTestId("decided")).toContainText("3 reports are on hold");
  // What would be sent by it is undone by its own button alone.
  await window.keyboard.press("Control+z");
  await expect(window.getByTestId("decided")).toContainText("3 reports are on hold");
  await expect.poll(async () => (await core.call("status")).counts.byState).toMatchObject({ held: 3, queued: 0 });
  await window.getByTestId("decided-undo").click();
  await expect(window.getByTestId("batch")).toBeVisible();
  await expect(window.getByTestId("decided")).toContainText("3 reports go on as before");

  // Somebody begins to correct one of them: its row says so, and the decision leaves it out unless that is turned off.
  const begun = submissions[2] ?? 0;
  await core.call("hold_back", { ids: [begun] });
  const { source } = await core.call("detail", { id: begun });
  await core.call("keep_draft", { id: begun, text: `${source} ` });
  await expect(window.locator(`[data-id="${begun}"]`).getByTestId("draft-mark")).toHaveText("Correction begun");
  await expect(window.getByTestId("draft-mark")).toHaveCount(1);
  await window.getByTestId("choose-all").click();
  await window.getByTestId("bulk-not-reportable").click();
  await expect(window.getByTestId("reason-confirm")).toBeDisabled();
  const drafts = window.getByTestId("drafts-note");
  await expect(drafts).toContainText("1 of these has a correction that somebody has begun. It is left out");
  await window.getByTestId("reason").fill("control sample");
  await window.keyboard.press("Shift+Tab");
  await window.keyboard.press("Space");
  await expect(drafts).toContainText("It is lost; that cannot be undone.");
  await expect(window.getByTestId("reason-confirm")).toHaveText("Not reportable (3)");
  await window.keyboard.press("Space");
  await expect(drafts).toContainText("It is left out");
  await sound(window);
  await window.getByTestId("reason-confirm").click();
  await expect(window.getByTestId("decided")).toContainText("2 reports are not reportable");
  expect(await core.call("draft", { id: begun })).toBe(`${source} `);
  await expect(window.getByTestId("decided-undo")).toHaveCount(0);
  const { timeline } = await core.call("detail", { id: submissions[1] ?? 0 });
  expect(timeline.at(-1)?.params).toMatchObject({ reason: "Not reportable: control sample" });
});

test("what comes in while somebody reads further down waits until it is asked for", async ({ window, core }) => {
  await core.call("set_paused", { paused: true });
  await core.send(core.copies("covid", 30));
  await window.getByTestId("nav-reports").click();
  const list = window.getByTestId("report-list");
  await list.hover();
  await window.mouse.wheel(0, 600);
  const read = window.getByTestId("report-row").nth(12);
  await expect(read).toBeInViewport();
  const [id, place] = [await read.getAttribute("data-id"), await read.boundingBox()];
  await core.send([core.sample("malaria"), core.sample("gonorrhoea")]);
  const fresh = window.getByRole("button", { name: "2 new: show" });
  await expect(fresh).toBeVisible();
  await expect(window.locator(`[data-id="${id}"]`)).toBeInViewport();
  expect(await window.locator(`[data-id="${id}"]`).boundingBox()).toEqual(place);
  await sound(window);
  await fresh.click();
  await expect(fresh).toHaveCount(0);
  await expect(window.getByTestId("report-row").first()).toContainText(/Malaria|Gonorrh/);
  await expect(window.getByTestId("report-row").first()).toBeInViewport();
});

test("a row that turns to another state has its colour for a moment, stays where it is, and is still where motion is not wanted", async ({
  window,
  core,
}) => {
  await core.call("set_paused", { paused: true });
  await core.send(core.copies("covid", 2));
  await window.getByTestId("nav-reports").click();
  const rows = window.getByTestId("report-row");
  await expect(rows).toHaveCount(2);
  await window.emulateMedia({ reducedMotion: "no-preference" });
  await window.evaluate(() => {
    const turned = new Set<string>();
    document.addEventListener("animationend", ({ target }) => {
      const row = target instanceof Element ? target.closest<HTMLElement>("[data-id]") : null;
      if (row?.dataset.id) turned.add(row.dataset.id);
    });
    Object.assign(globalThis, { turned });
  });
  const turned = () => window.evaluate(() => (globalThis as unknown as { turned: Set<string> }).turned.size);
  // Within the list: above it the notice of the pause goes.
  const places = async () => {
    const list = await window.getByTestId("report-list").boundingBox();
    const words = await rows
      .locator("> [role=gridcell]")
      .evaluateAll((cells) => cells.map((cell) => cell.getBoundingClientRect().top));
    return words.map((top) => Math.round(top - (list?.y ?? 0)));
  };
  const before = await places();
  await core.call("set_paused", { paused: false });
  await expect(window.locator('[data-testid="report-row"][data-state="completed"]')).toHaveCount(2);
  await expect.poll(turned).toBe(2);
  expect(await places()).toEqual(before);
  await window.emulateMedia({ reducedMotion: "reduce" });
  for (const row of await rows.all()) await expect(row.getByTestId("turned")).toBeHidden();
});

test("a list is sorted by its columns, and its filters count what they would leave", async ({ window, core }) => {
  await sent(core, [
    core.sample("malaria"),
    core.sample("covid"),
    core.sample("gonorrhoea"),
    core.sample("muster-fehler"),
  ]);
  await window.getByTestId("nav-reports").click();
  const diseases = () => window.getByTestId("report-row").locator("strong").allTextContents();
  await window.getByTestId("sort-disease").click();
  await expect(window.getByRole("columnheader", { name: /Disease/ })).toHaveAttribute("aria-sort", "ascending");
  const isSorted = (names: string[]) =>
    names.every((name, at) => at === 0 || (names[at - 1] ?? "").localeCompare(name) <= 0);
  await expect(window.getByTestId("report-row")).toHaveCount(4);
  await expect.poll(async () => isSorted(await diseases())).toBe(true);
  const upwards = await diseases();
  await window.getByTestId("sort-disease").click();
  await expect.poll(diseases).toEqual(upwards.toReversed());

  await window.getByTestId("filter-state").click();
  await window.getByRole("menuitemcheckbox", { name: /Failed/ }).click();
  await window.keyboard.press("Escape");
  await expect(window.getByTestId("report-row")).toHaveCount(1);
  // The counts of the groups follow the search and the status.
  await window.getByRole("searchbox").fill("malaria");
  await expect(window.getByTestId("group-all")).toHaveText("All0");
  await expect(window.getByTestId("report-row")).toHaveCount(0);
  await window.getByTestId("clear-filters").click();
  await expect(window.getByTestId("report-row")).toHaveCount(4);
});

test("a view is kept in this laboratory's journal, used and forgotten", async ({ window, core, restart }) => {
  await sent(core, [core.sample("malaria"), core.sample("muster-fehler")]);
  await window.getByTestId("nav-reports").click();
  await window.getByTestId("group-needs-attention").click();
  await window.getByTestId("sort-patient").click();
  await window.getByTestId("views").click();
  await window.getByRole("menuitem", { name: "Keep this view …" }).click();
  await window.getByTestId("view-name").fill("Mine");
  await window.getByTestId("view-keep").click();
  await expect.poll(async () => core.call("saved_views")).toMatchObject([{ name: "Mine", sort: "patient" }]);
  await expect(window.getByTestId("views")).toHaveText("Mine");

  await restart();
  await window.getByTestId("nav-reports").click();
  await expect(window.getByTestId("report-row")).toHaveCount(2);
  await window.getByTestId("views").click();
  await window.getByRole("menuitem", { name: "Mine", exact: true }).click();
  await expect(window.getByTestId("report-row")).toHaveCount(1);
  await expect(window.getByTestId("group-needs-attention")).toHaveAttribute("aria-pressed", "true");
  await window.getByTestId("views").click();
  await window.getByRole("menuitem", { name: "Remove “Mine”" }).click();
  await expect.poll(async () => core.call("saved_views")).toEqual([]);
});

test("chosen reports are saved as a table that names no patient", async ({ window, core }) => {
  await sent(core, [core.sample("malaria"), core.sample("muster-fehler")]);
  await window.getByTestId("nav-reports").click();
  await window.getByTestId("choose-all").click();
  const target = join(core.folder, "reports.csv");
  await core.choose([target]);
  await window.getByTestId("bulk-csv").click();
  await expect(window.getByText("2 reports are saved as a table")).toBeVisible();
  const table = readFileSync(target, "utf8");
  expect(table.startsWith("\uFEFFNumber,Taken in")).toBe(true);
  expect(table.trimEnd().split("\r\n")).toHaveLength(3);
  expect(table).toContain("Malaria");
  expect(table).not.toContain("Muster-Fehler");
});
