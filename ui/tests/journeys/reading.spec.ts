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
