// The overview: what it says is what the core counted, each figure leads to its reports, and the daily statement
// proves what was sent.

import { readFileSync } from "node:fs";

import { expect, sound, test } from "./window";

test("figures lead to the reports that they count", async ({ window, core }) => {
  await core.send([core.sample("covid"), core.sample("malaria"), core.sample("muster-fehler")]);
  await expect.poll(async () => (await core.call("status")).counts.byState).toMatchObject({ completed: 2, failed: 1 });
  await window.getByTestId("nav-overview").click();
  await expect(window.getByTestId("overview-sentence")).toContainText(
    /3 reports in the last 7 days: 2 completed, 1 to correct\. The slowest was completed within \d+ second/,
  );
  await expect(window.getByTestId("overview-causes").getByRole("button")).toHaveCount(1);
  await expect(window.getByTestId("overview-diseases")).toContainText("Malaria");
  await sound(window);

  await window.getByTestId("tile-failed").click();
  await expect(window.getByTestId("only-filter")).toContainText("Failed");
  await expect(window.getByTestId("report-row")).toHaveCount(1);
  await window.getByRole("button", { name: "Show all reports" }).click();
  await expect(window.getByTestId("report-row")).toHaveCount(3);

  // The bar of today has them all; that of yesterday none.
  await window.getByTestId("nav-overview").click();
  await window
    .getByTestId("chart")
    .getByRole("button", { name: /3 reports/ })
    .click();
  await expect(window.getByTestId("report-row")).toHaveCount(3);
  await expect(window.getByTestId("group-all")).toHaveText("All3");
  await window.getByTestId("nav-overview").click();
  await window
    .getByTestId("chart")
    .getByRole("button", { name: /no reports/ })
    .last()
    .click();
  await expect(window.getByTestId("only-filter")).toBeVisible();
  await expect(window.getByTestId("report-row")).toHaveCount(0);
  await expect(window.getByTestId("group-all")).toHaveText("All0");

  await window.getByTestId("nav-overview").click();
  await window
    .getByTestId("overview-diseases")
    .getByRole("button", { name: /Malaria/ })
    .click();
  await expect(window.getByTestId("report-row")).toHaveCount(1);
  await expect(window.getByTestId("only-filter")).toContainText("without those that were corrected");
});

test("a year is drawn by week", async ({ window, core }) => {
  await core.send([core.sample("covid")]);
  await expect.poll(async () => (await core.call("status")).counts.completed).toBe(1);
  await window.getByTestId("nav-overview").click();
  await window.getByRole("button", { name: "365 days" }).click();
  await expect(window.getByTestId("chart").getByRole("button")).toHaveCount(53);
  await expect(window.getByRole("heading", { name: /^Reports per / })).toHaveText(/^Reports per week/);
  await expect(window.getByRole("list", { name: /^Reports per week/ })).toBeVisible();
  // The name of the last bar, which is wider than that, ends with the chart.
  const beyond = await window.getByTestId("chart").evaluate((chart) => {
    const name = document.createRange();
    name.selectNodeContents(chart.lastElementChild?.lastElementChild ?? chart);
    return name.getBoundingClientRect().right - chart.getBoundingClientRect().right;
  });
  expect(beyond).toBeLessThanOrEqual(1);
  // One report is no figure of how long they take.
  await expect(window.getByTestId("overview-sentence")).toContainText(/The only completed report took \d+ second/);
  await window
    .getByTestId("chart")
    .getByRole("button", { name: /1 report\b/ })
    .click();
  await expect(window.getByTestId("report-row")).toHaveCount(1);
});

test("the daily statement has what was sent, its digest and the answer, and no name", async ({
  window,
  core,
  context,
}) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  const path = core.sample("covid");
  const name = /"family":\s*"([^"]+)"/.exec(readFileSync(path, "utf8"))?.[1] ?? "";
  await core.send([path]);
  await expect.poll(async () => (await core.call("status")).counts.completed).toBe(1);
  await window.getByTestId("nav-overview").click();
  await window.getByTestId("statement-open").click();
  const statement = window.getByRole("dialog").getByTestId("statement");
  const { digest, receipt, identifier } = await core.call("detail", { id: 1 });
  for (const proof of [digest, receipt ?? "no receipt", identifier, "Completed", "HTTP 200"])
    await expect(statement).toContainText(proof);
  await expect(statement.getByTestId("statement-outcome")).toHaveText("Completed (1)");
  expect(name).not.toBe("");
  await expect(statement).not.toContainText(name);
  await sound(window);

  await window.getByTestId("statement-csv").click();
  const readText = () => window.evaluate(() => navigator.clipboard.readText());
  await expect.poll(async () => (await readText()).split("\r\n")).toHaveLength(3);
  const copied = await readText();
  expect(copied).toContain(digest);
  const table = core.write("statement.csv", "");
  await core.choose([table]);
  await window.getByTestId("statement-save-csv").click();
  await expect(window.getByText("The table is saved")).toBeVisible();
  expect(readFileSync(table, "utf8")).toBe(`\uFEFF${copied}`);

  // The file says the same, in the language of the window, and can be read without any program for PDF.
  const target = core.write("statement.pdf", "");
  await core.choose([target]);
  await window.getByTestId("statement-pdf").click();
  await expect(window.getByText("The daily statement is saved")).toBeVisible();
  // The keyboard is where it was: Escape would go nowhere without it.
  await expect(window.getByTestId("statement-pdf")).toBeFocused();
  // A line with other letters than those of ASCII stands in it by number.
  const hex = /<([0-9A-Fa-f]+)> Tj/g;
  const pdf = readFileSync(target, "latin1").replace(hex, (_, digits: string) =>
    Buffer.from(digits, "hex").toString("latin1"),
  );
  expect(pdf).toMatch(/^%PDF-/);
  const { chainHash } = await core.call("statement", {
    date: (await core.call("detail", { id: 1 })).row.created.slice(0, 10),
  });
  for (const proof of [digest, receipt ?? "no receipt", identifier, chainHash, "Completed"])
    expect(pdf).toContain(proof);
  expect(pdf).not.toContain(name);

  // Paper has the statement and nothing of the window.
  await window.emulateMedia({ media: "print" });
  await expect(window.locator("main")).toBeHidden();
  await expect(window.locator(".printed").getByTestId("statement")).toBeVisible();
  await expect(window.locator(".printed")).toContainText(digest);
  await window.emulateMedia({ media: "screen" });
  await window.getByRole("button", { name: "The day before" }).click();
  await expect(statement).toContainText("No report was taken in on this day");
});
