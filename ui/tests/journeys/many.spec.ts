// More reports to correct than are ordered at a time, with the real core.

import { join } from "node:path";

import { LANGUAGES } from "../../src/i18n/text";
import { expect, sound, test } from "./window";

const TOTAL = 5_200;

test("more than five thousand reports to correct are all ordered by cause, when asked to", async ({ window, core }) => {
  test.skip(!process.env.JOURNEYS_LONG, "takes a minute: JOURNEYS_LONG=1");
  test.setTimeout(900_000);
  const { PICTURES: pictures } = process.env;
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
  if (pictures) {
    const preferences = await core.call("preferences");
    for (const { code } of LANGUAGES) {
      for (const theme of ["light", "dark"] as const) {
        await core.call("set_preferences", { preferences: { ...preferences, language: code, theme } });
        await window.reload();
        await window.getByTestId("nav-correct").click();
        await expect(cut).toBeVisible({ timeout: 120_000 });
        await sound(window);
        await window.screenshot({ path: join(pictures, `cut-${code}-${theme}.png`) });
      }
    }
  }
  const asked = Date.now();
  await window.getByTestId("causes-more").click();
  await expect(cut).toHaveCount(0, { timeout: 120_000 });
  console.log(`the rest ordered after ${(Date.now() - asked) / 1000} s`);
  await expect(window.getByTestId("cause")).toHaveCount(2);
  await expect(window.getByTestId("cause").first().locator("span[aria-hidden]").first()).toHaveText(/^5.?100$/);
});
