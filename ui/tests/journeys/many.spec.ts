// More reports to correct than are ordered at a time, with the real core.

import { expect, sound, test } from "./window";

const TOTAL = 5_200;

test(
  "more than five thousand reports to correct are all ordered by cause, when asked to",
  { tag: "@long" },
  async ({ window, core }) => {
    test.setTimeout(900_000);
    // Two codes that FHIR does not have, and a cause each.
    const paths = core.copies("covid", TOTAL, (content, at) =>
      at < 100
        ? content.replace(/"gender": "\w+"/, '"gender": "nobody"')
        : content.replaceAll('"status": "final"', '"status": "nobody"'),
    );
    const begun = Date.now();
    await core.send(paths);
    console.log(`${TOTAL} taken in after ${(Date.now() - begun) / 1000} s`);
    await window.getByTestId("nav-correct").click();
    const cut = window.getByTestId("causes-cut");
    await expect(cut).toBeVisible({ timeout: 120_000 });
    await sound(window);
    const asked = Date.now();
    await window.getByTestId("causes-more").click();
    await expect(cut).toHaveCount(0, { timeout: 120_000 });
    console.log(`the rest ordered after ${(Date.now() - asked) / 1000} s`);
    await expect(window.getByTestId("cause")).toHaveCount(2);
    await expect(window.getByTestId("cause").first().locator("span[aria-hidden]").first()).toHaveText(/^5.?100$/);
  },
);
