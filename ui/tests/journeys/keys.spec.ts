// Keys: single letters only where there is a list, G and a letter from everywhere, out of the search and into what it found.

import { expect, test } from "./window";

test("a letter alone leads nowhere, G and a letter to a place, and the search is left by keys", async ({
  window,
  core,
}) => {
  await core.send([core.sample("covid"), core.sample("malaria")]);
  await window.keyboard.press("g");
  await window.keyboard.press("e");
  await expect(window.getByTestId("nav-settings")).toHaveAttribute("aria-current", "page");
  for (const key of ["s", "l", "1", "r"]) await window.keyboard.press(key);
  await expect(window.getByTestId("nav-settings")).toHaveAttribute("aria-current", "page");
  await window.keyboard.press("Control+=");
  await expect.poll(async () => (await core.call("preferences")).textPercent).toBe(115);
  await window.keyboard.press("Control+0");
  await expect.poll(async () => (await core.call("preferences")).textPercent).toBe(100);

  await window.keyboard.press("g");
  await window.keyboard.press("r");
  await expect(window.getByTestId("report-row")).toHaveCount(2);
  await window.keyboard.press("/");
  const search = window.getByRole("searchbox");
  await expect(search).toBeFocused();
  await window.keyboard.type("malaria");
  await expect(window.getByTestId("report-row")).toHaveCount(1);
  await window.keyboard.press("Enter");
  await expect(window.getByTestId("report-list")).toBeFocused();
  await window.keyboard.press("Enter");
  await expect(window.getByTestId("detail")).toBeVisible();
  await window.keyboard.press("Escape");
  await window.keyboard.press("/");
  await window.keyboard.press("Escape");
  await expect(search).toHaveValue("");
  await window.keyboard.press("Escape");
  await expect(search).not.toBeFocused();
});

test("the list by keyboard alone: its groups, a report and the next one, opened, sent again and left", async ({
  window,
  core,
}) => {
  await core.send([core.sample("covid"), ...core.copies("muster-fehler", 2)]);
  await expect.poll(async () => (await core.call("status")).counts).toMatchObject({ needsAttention: 2, completed: 1 });
  await window.getByTestId("nav-reports").click();
  const rows = window.getByTestId("report-row");
  for (const [key, count] of [
    ["4", 1],
    ["3", 0],
    ["1", 3],
    ["2", 2],
  ] as const) {
    await window.keyboard.press(key);
    await expect(rows, `key ${key}`).toHaveCount(count);
  }
  await window.keyboard.press("j");
  await window.keyboard.press("j");
  await window.keyboard.press("Enter");
  await expect(rows.nth(1)).toHaveAttribute("aria-current", "true");
  await expect(window.getByTestId("detail-state")).toHaveAttribute("data-state", "failed");
  await window.keyboard.press("r");
  await expect(window.getByTestId("predecessor")).toBeVisible();
  await window.keyboard.press("Escape");
  await expect(window.getByTestId("detail")).toHaveCount(0);
});
