// A report reads as people write: days, reasons and codes in words, and nothing among its messages that calls for nothing.

import { readFileSync } from "node:fs";

import { expect, test } from "./window";
import type { Core } from "./window";

/** A report of an old test with a part that was not measured. */
function written(core: Core): string {
  const report = JSON.parse(readFileSync(core.sample("covid"), "utf8"));
  const found = report.entry.map(({ resource }: { resource: { resourceType: string } }) => resource);
  const test = found.find(({ resourceType }: { resourceType: string }) => resourceType === "Observation");
  test.effectiveDateTime = "2024-09-10T14:20:00+02:00";
  test.component = [
    {
      code: { coding: [{ system: "http://loinc.org", code: "63072-3" }] },
      dataAbsentReason: {
        coding: [{ system: "http://terminology.hl7.org/CodeSystem/data-absent-reason", code: "not-applicable" }],
      },
    },
  ];
  return core.write("old.json", JSON.stringify(report, null, 2));
}

test.describe("in German", () => {
  test.use({ language: "de" });

  test("a day and what is missing stand in words, and the version of the rules with the proof", async ({
    window,
    core,
  }) => {
    await core.send([written(core)]);
    await window.getByTestId("nav-reports").click();
    await window.getByTestId("report-row").click();
    const detail = window.getByTestId("detail");
    await expect(detail.getByTestId("message").first()).toContainText("Getestet am 10. September 2024");
    await expect(detail.getByTestId("results")).toContainText("Nicht anwendbar");
    await expect(detail).not.toContainText("not-applicable");
    await expect(detail).not.toContainText("labcourier.practice");
    await window.getByTestId("tab-timeline").click();
    await expect(detail).toContainText("labcourier.practice@");
  });
});

test("a place that is shown in the report moves the pane, and never the window", async ({ window, core }) => {
  const { submissions } = await core.send([core.sample("muster-fehler")]);
  const id = submissions[0] ?? 0;
  await expect.poll(async () => (await core.call("detail", { id })).row.state).toBe("failed");
  await window.setViewportSize({ width: 1000, height: 560 });
  await window.getByTestId("nav-reports").click();
  await window.getByTestId("report-row").click();
  const top = () =>
    window.evaluate(() =>
      ["html", "body", "main"].map((part) => {
        const element = document.querySelector(part);
        return [element?.scrollTop, element?.getBoundingClientRect().top];
      }),
    );
  const before = await top();
  const show = window.getByTestId("message").getByRole("button", { name: "Show in report" });
  for (const button of await show.all()) {
    await button.click();
    await expect(window.getByTestId("detail").locator('[data-field][class*="shown"]')).toBeInViewport();
    expect(await top()).toEqual(before);
  }
  await expect(show.first()).toBeVisible();
});

test("what is taller than the window does not let anything scroll the window itself", async ({ window }) => {
  await window.getByTestId("nav-reports").click();
  const moved = await window.evaluate(() => {
    const main = document.querySelector("main") ?? document.body;
    const tall = document.createElement("div");
    tall.style.cssText = "position: absolute; top: 100%; left: 0; width: 1px; height: 3000px";
    main.append(tall);
    tall.scrollIntoView({ block: "end" });
    const moved: string[] = [];
    for (let part: HTMLElement | null = tall.parentElement; part; part = part.parentElement) {
      if (part.scrollTop !== 0) moved.push(`${part.tagName} ${part.className}: ${part.scrollTop}`);
    }
    tall.remove();
    return moved;
  });
  expect(moved).toEqual([]);
});

test("select all takes the rows of the list, and nowhere the words of the window itself", async ({ window, core }) => {
  await core.send([core.sample("covid"), core.sample("malaria")]);
  const selected = () => window.evaluate(() => String(getSelection()));
  await window.getByTestId("nav-reports").click();
  await expect(window.getByTestId("report-row")).toHaveCount(2);
  await window.keyboard.press("Control+a");
  await expect(window.getByText("2 reports chosen")).toBeVisible();
  expect(await selected()).toBe("");
  for (const place of ["nav-overview", "nav-settings"]) {
    await window.getByTestId(place).click();
    await window.keyboard.press("Control+a");
    expect(await selected()).not.toContain("Overview");
  }
});

test("a file that is broken has one name: it cannot be read, and nobody says that it is no report", async ({
  window,
  core,
}) => {
  const whole = readFileSync(core.sample("covid"), "utf8");
  await core.drop([core.write("broken.json", whole.replace(/"type"\s*:/, '"type"'))]);
  const row = window.getByTestId("candidate-row");
  await expect(row).toContainText("Unreadable file");
  await expect(row).toContainText("The JSON is broken here");
  await expect(row).not.toContainText("Not a report");
  await expect(row).not.toContainText("Laboratory report");
});
