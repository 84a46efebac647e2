// What the window says in its corner covers no button that decides, however much it has to say.

import { readFileSync } from "node:fs";

import type { Page } from "@playwright/test";

import { expect, replaceAll, test } from "./window";

test.use({ viewport: { width: 1000, height: 700 } });

/** A button can be pressed at its middle and at three corners, while something is said. */
async function free(page: Page, id: string) {
  await expect(page.getByRole("alertdialog").first()).toBeVisible();
  const reached = await page.getByTestId(id).evaluate(async (button) => {
    // Two frames: what has just changed is measured and drawn.
    await new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)));
    const { left, right, top, bottom } = button.getBoundingClientRect();
    const at = (x: number, y: number) => button.contains(document.elementFromPoint(x, y));
    return [
      at(left + 2, top + 2),
      at(right - 2, top + 2),
      at((left + right) / 2, (top + bottom) / 2),
      at(right - 2, bottom - 2),
    ];
  });
  expect(reached, `${id} is covered`).toEqual([true, true, true, true]);
}

test.describe("on Send", () => {
  test.use({ undoSeconds: 30 });

  test("neither the button that sends nor the one that takes back", async ({ window, core }) => {
    // A message that stays, over the bar of what was just sent and the next list above it.
    await core.drop([core.sample("covid")]);
    await window.getByTestId("send-button").click();
    await expect(window.getByTestId("undo")).toBeVisible();
    const wrong = readFileSync(core.sample("malaria"), "utf8").replace(
      /"birthDate": ?"[^"]*"/,
      '"birthDate": "2999-01-01"',
    );
    await core.drop([core.sample("gonorrhoea"), core.write("wrong.json", wrong)]);
    await expect(window.getByTestId("candidate-row")).toHaveCount(2);
    await window.keyboard.press("?");
    await expect(window.getByRole("dialog")).toBeVisible();
    await core.drop([core.sample("covid")]);
    await expect(window.getByRole("alertdialog")).toHaveCount(1);
    await window.keyboard.press("Escape");
    await expect(window.getByRole("dialog")).toHaveCount(0);
    await free(window, "send-button");
    await free(window, "undo");
    await window.getByTestId("send-button").click();
  });
});

test.describe("in a dialog", () => {
  test.use({ showsNames: true });

  test("not the button that sends, where the bar of the dialog grows with what it says", async ({ window, core }) => {
    const { submissions } = await core.send([core.sample("muster-fehler")]);
    await expect.poll(async () => (await core.call("detail", { id: submissions[0] ?? 0 })).row.state).toBe("failed");
    await window.getByTestId("nav-reports").click();
    await window.getByTestId("report-row").click();
    await window.getByTestId("action-correct").click();
    await expect(window.getByTestId("correct-text")).toBeVisible();
    await core.drop([core.sample("covid"), core.sample("malaria")]);
    await expect(window.getByRole("alertdialog")).toHaveCount(1);
    await replaceAll(window.getByTestId("correct-text"), "{}");
    await expect(window.getByTestId("correct-summary")).toBeVisible();
    await free(window, "correct-send");
  });
});
