// Undo, Send and every place can be pressed in a small window and with large text, whatever else there is to show.

import type { Page } from "@playwright/test";

import { expect, test } from "./window";

const by = (page: Page, id: string) => page.getByTestId(id);

/** Of what can be pressed: that which is not wholly inside the window, or which something else lies over. */
function outOfReach(page: Page, ids: string[]): Promise<string[]> {
  return page.evaluate((sought) => {
    const isWithin = (element: Element) => {
      const { left, right, top, bottom } = element.getBoundingClientRect();
      const isOnTop = (x: number, y: number) => element.contains(document.elementFromPoint(x, y));
      return (
        Math.min(left, top) >= -0.5 &&
        right <= innerWidth + 0.5 &&
        bottom <= innerHeight + 0.5 &&
        isOnTop((left + right) / 2, (top + bottom) / 2) &&
        isOnTop((left + right) / 2, top + 3) &&
        isOnTop((left + right) / 2, bottom - 3) &&
        isOnTop(left + 3, (top + bottom) / 2) &&
        isOnTop(right - 3, (top + bottom) / 2)
      );
    };
    return sought.filter((id) => {
      const element = document.querySelector(`[data-testid="${id}"]`);
      return !element || !isWithin(element);
    });
  }, ids);
}

test.describe("with a list, the bar of what was just sent and a notice on top", () => {
  test.use({ undoSeconds: 30, language: "de" });
  const PLACES = ["send", "reports", "correct", "overview", "ask", "certificate", "settings"];
  const PRESSED = ["undo", "send-button", ...PLACES.map((place) => `nav-${place}`), "reveal-names", "lock", "help"];

  for (const { width, height, textPercent } of [
    { width: 320, height: 640, textPercent: 100 },
    { width: 320, height: 640, textPercent: 200 },
    { width: 900, height: 650, textPercent: 200 },
  ]) {
    test(`Undo, Send and every place are in reach: ${width} by ${height}, text of ${textPercent} %`, async ({
      window,
      core,
    }) => {
      await core.call("set_preferences", { preferences: { ...(await core.call("preferences")), textPercent } });
      // As many to correct as no journey makes.
      await window.route("**/call/status", async (route) => {
        const answer = await route.fetch();
        const status = (await answer.json()) as { counts: object };
        await route.fulfill({
          response: answer,
          json: { ...status, counts: { ...status.counts, needsAttention: 150 } },
        });
      });
      await window.reload();
      await expect(by(window, "nav-send")).toBeVisible();
      await core.drop([core.sample("malaria")]);
      await by(window, "send-button").click();
      await expect(by(window, "undo")).toBeVisible();
      await core.drop([core.sample("covid"), core.sample("gonorrhoea")]);
      await expect(by(window, "send-button")).toBeEnabled();
      await window.setViewportSize({ width, height });
      await expect.poll(() => outOfReach(window, PRESSED)).toEqual([]);

      await core.call("set_paused", { paused: true });
      const paused = window.getByText("Senden ist pausiert", { exact: true }).last();
      await expect(paused).toBeAttached();
      await expect.poll(() => outOfReach(window, PRESSED)).toEqual([]);
      // The end of the list comes into sight by the same movement that takes the notice away.
      const seen = () =>
        by(window, "candidate-row").evaluateAll((rows) => {
          const last = rows.at(-1);
          const { left, width: wide, bottom } = last?.getBoundingClientRect() ?? new DOMRect();
          return last?.contains(document.elementFromPoint(left + wide / 2, bottom - 8)) ?? false;
        });
      await window.mouse.move(width / 2, height / 3);
      await expect(async () => {
        await window.mouse.wheel(0, 2000);
        expect(await seen()).toBe(true);
      }).toPass();
      expect(await outOfReach(window, PRESSED)).toEqual([]);

      // The number of those to correct lies on no other place, and is whole.
      const badge = await by(window, "nav-correct").evaluate((entry) => {
        const number = entry.querySelector("[aria-hidden=true]:not(svg)")?.parentElement;
        const box = number?.getBoundingClientRect() ?? new DOMRect();
        const next = document.querySelector('[data-testid="nav-overview"]')?.getBoundingClientRect() ?? new DOMRect();
        const isOnTop = (x: number) => number?.contains(document.elementFromPoint(x, box.top + box.height / 2));
        return {
          isBeside: box.right <= next.left + 0.5,
          isWhole: isOnTop(box.left + 3) && isOnTop(box.right - 3),
          isInside: (number?.scrollWidth ?? 1) <= (number?.clientWidth ?? 0),
        };
      });
      expect(badge).toEqual({ isBeside: true, isWhole: true, isInside: true });
    });
  }
});
