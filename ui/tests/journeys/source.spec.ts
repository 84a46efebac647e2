// The source of a report in its detail: marks at what is said of it, folding, search and copying, by keyboard too.

import { readFileSync } from "node:fs";

import { expect, sound, test } from "./window";
import type { Core } from "./window";

test.use({ showsNames: true });

/** A report with a code that FHIR does not have: our own check finds it, and says where. */
const wrong = (core: Core, space = "") => {
  const whole = readFileSync(core.sample("covid"), "utf8").replace('"entry"', `${space}"entry"`);
  return core.write("wrong.json", whole.replace(/"gender": "\w+"/, '"gender": "nobody"'));
};

test("the source has marks at what is found in it, folds, is searched and copied, and left by Tab", async ({
  window,
  core,
  context,
}) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await core.send([wrong(core)]);
  await window.getByTestId("nav-reports").click();
  await window.getByTestId("report-row").click();
  await window.getByTestId("message").first().getByRole("button", { name: "Show in report" }).click();
  await window.getByTestId("tab-source").click();
  const detail = window.getByTestId("detail");
  const source = detail.getByRole("textbox", { name: "Source" });
  // The line in question is in sight, and marked.
  const mark = detail.locator(".cm-lintRange-error");
  await expect(mark.first()).toHaveText('"nobody"');
  await expect(mark.first()).toBeInViewport();
  await expect(detail.locator(".cm-lint-marker-error")).toHaveCount(1);
  await mark.first().hover();
  await expect(detail.locator(".cm-diagnostic")).toContainText("nobody");
  await sound(window);
  // It is read, not written.
  await source.press("x");
  await expect(source).toContainText('"nobody"');
  await expect(source).toHaveAttribute("aria-readonly", "true");

  await source.press("Control+f");
  const search = detail.getByRole("textbox", { name: "Find" });
  await search.pressSequentially("birthDate");
  await search.press("Enter");
  await expect(detail.locator(".cm-searchMatch-selected")).toHaveText("birthDate");
  await search.press("Escape");
  await expect(search).toHaveCount(0);
  await expect(detail).toBeVisible();

  await source.press("Control+Home");
  await source.press("Control+Shift+[");
  await expect(detail.locator(".cm-foldPlaceholder")).toHaveCount(1);
  await source.press("Control+Shift+]");
  await source.press("Control+a");
  await source.press("Control+c");
  const copied = await window.evaluate(() => navigator.clipboard.readText());
  expect(JSON.parse(copied).resourceType).toBe("Bundle");

  // It is no trap, either way.
  await source.press("Tab");
  await expect(source).not.toBeFocused();
  await source.focus();
  await source.press("Shift+Tab");
  await expect(source).not.toBeFocused();
});

test("a report as large as one may be (5 MB) shows the line in question, however far down", async ({
  window,
  core,
}) => {
  // White space says nothing, and is kept as it was received.
  const lines = 51_000;
  await core.send([wrong(core, `\n${" ".repeat(95)}`.repeat(lines))]);
  await window.getByTestId("nav-reports").click();
  await window.getByTestId("report-row").click();
  await window.getByTestId("message").first().getByRole("button", { name: "Show in report" }).click();
  const begun = Date.now();
  await window.getByTestId("tab-source").click();
  const detail = window.getByTestId("detail");
  await expect(detail.locator(".cm-activeLine")).toContainText('"nobody"');
  await expect(detail.locator(".cm-activeLine")).toBeInViewport();
  console.log(`the source of 5 MB in sight after ${Date.now() - begun} ms`);
  await expect(detail.locator(".cm-lineNumbers")).toContainText(/51\d{3}/);
  // Drawn is only what is in sight.
  expect(await detail.locator(".cm-line").count()).toBeLessThan(500);
});

test("what is no report any more is not sent, and what was written stays in front of whoever wrote it", async ({
  window,
  core,
}) => {
  await core.send([wrong(core)]);
  await window.getByTestId("nav-reports").click();
  await window.getByTestId("report-row").click();
  await window.getByTestId("action-correct").click();
  const dialog = window.getByRole("dialog");
  const source = dialog.getByRole("textbox", { name: "Source" });
  await source.click();
  await window.keyboard.press("Control+End");
  await window.keyboard.type("what is no report");
  await expect(window.getByTestId("correct-summary")).toContainText(/First mend the error in line \d+/);
  await expect(window.getByTestId("correct-send")).toBeDisabled();
  await window.keyboard.press("Control+Enter");
  await expect(dialog).toBeVisible();
  await expect(source).toContainText("what is no report");
  expect((await core.call("status")).counts).toMatchObject({ needsAttention: 1, byState: { held: 1 } });
});
