// The three walks that a person makes most, by the keyboard alone: no press of a pointer, and at every step the focus is in
// sight. A name in brackets is how a screen reader would tell the place.

import type { Page } from "@playwright/test";

import { expect, test } from "./window";
import type { Core } from "./window";

/** What has the focus, once it stands still: its test id or its words. It is never the page itself, and it is seen. */
async function focused(window: Page): Promise<string> {
  const look = () =>
    window.evaluate(() => {
      const element = document.activeElement;
      if (!element || element === document.body) return { name: "", why: "the focus is nowhere" };
      const { dataset } = element as HTMLElement;
      const name = dataset.testid ?? element.getAttribute("aria-label") ?? element.textContent?.trim() ?? "";
      const { left, right, top, bottom } = element.getBoundingClientRect();
      if (right <= 0 || bottom <= 0 || left >= innerWidth || top >= innerHeight)
        return { name, why: "it is not in the window" };
      // A ring is drawn around the element itself, around what holds it (a field), or around its row (a list).
      const row = document.getElementById(element.getAttribute("aria-activedescendant") ?? "");
      let around = element.parentElement;
      const holders = [element, row, around, (around = around?.parentElement ?? null), around?.parentElement];
      const isRinged = holders.some((holder) => {
        if (!holder) return false;
        const { outlineStyle, outlineWidth } = getComputedStyle(holder);
        return outlineStyle !== "none" && parseFloat(outlineWidth) >= 2;
      });
      return { name, why: isRinged ? "" : `no ring around ${element.outerHTML.slice(0, 160)}` };
    });
  await expect.poll(async () => (await look()).why, { timeout: 10_000 }).toBe("");
  return (await look()).name;
}

/** Presses Tab until the focus is at what is meant, each time in sight. */
async function tabTo(window: Page, what: string | RegExp, key: "Tab" | "Shift+Tab" = "Tab"): Promise<void> {
  const been: string[] = [];
  for (let at = 0; at < 60; at += 1) {
    await window.keyboard.press(key);
    const name = await focused(window);
    been.push(name.slice(0, 40));
    if (typeof what === "string" ? name === what : what.test(name)) return;
  }
  throw new Error(`the keyboard does not reach ${String(what)}, only ${been.join(" · ")}`);
}

async function undoSeconds(core: Core, seconds: number): Promise<void> {
  await core.call("set_preferences", { preferences: { ...(await core.call("preferences")), undoSeconds: seconds } });
}

/** Failed reports of one cause. */
async function failed(core: Core, count: number): Promise<void> {
  const sent = await core.send(core.copies("muster-fehler", count));
  const ids = sent.submissions.flatMap((id) => (id === null ? [] : [id]));
  await expect.poll(async () => (await core.call("batch", { ids })).attention).toHaveLength(count);
}

test.describe("a newcomer", () => {
  test.use({ welcomed: false });

  test("gets by the keyboard from the first start to a corrected, completed practice report", async ({
    window,
    core,
  }) => {
    const batch = window.getByTestId("batch");
    await tabTo(window, "send-samples");
    await window.keyboard.press("Enter");
    expect(await focused(window)).toBe("Send");
    await expect(window.getByTestId("send-button")).toBeEnabled();
    await tabTo(window, "send-button");
    await window.keyboard.press("Enter");
    // The keyboard is where it can be taken back, and stays there when the time is over.
    await expect(batch).toHaveAttribute("data-phase", "settled");
    expect(await focused(window)).toBe("batch");
    await tabTo(window, "batch-correct");
    await window.keyboard.press("Enter");
    // The form is open, and the keyboard in it: on nothing that would show all names with the next Enter.
    const dialog = window.getByRole("dialog");
    await expect(window.getByTestId("hidden-form-Patient.name.family")).toBeVisible();
    await expect(dialog).toBeFocused();
    await window.keyboard.press("Escape");
    await expect(dialog).toHaveCount(0);
    await expect(window.getByTestId("detail-state")).toHaveAttribute("data-state", "failed");
    expect(await focused(window)).toBe("detail");
    await tabTo(window, "action-correct");
    await window.keyboard.press("Enter");
    await expect(window.getByTestId("hidden-form-Patient.name.family")).toBeVisible();
    await expect(dialog).toBeFocused();
    // Escape leads back to the button that opened it.
    await window.keyboard.press("Escape");
    await expect(dialog).toHaveCount(0);
    expect(await focused(window)).toBe("action-correct");
    await window.keyboard.press("Enter");
    await tabTo(window, "unveil");
    await window.keyboard.press("Enter");
    await expect(window.getByTestId("unveil")).toHaveCount(0);
    await focused(window);
    await tabTo(window, "form-Patient.name.family");
    await window.keyboard.press("Control+a");
    await window.keyboard.type("Muster");
    await expect(window.getByTestId("correct-summary")).toContainText("1 line changed");
    await tabTo(window, "correct-send");
    await window.keyboard.press("Enter");
    await expect(dialog).toHaveCount(0);
    await focused(window);
    await expect.poll(async () => (await core.call("status")).counts.completed).toBe(6);
    await expect(batch).toHaveAttribute("data-phase", "settled");
    await focused(window);
    await expect(window.getByTestId("detail-state")).toHaveAttribute("data-state", "completed");
  });
});

test("a failed report is found by its cause, corrected, taken back and sent again by the keyboard", async ({
  window,
  core,
}) => {
  await failed(core, 2);
  await undoSeconds(core, 10);
  await window.keyboard.press("g");
  await window.keyboard.press("c");
  await tabTo(window, "cause");
  await tabTo(window, "report-row");
  await window.keyboard.press("Tab");
  expect(await focused(window)).toBe("report-row");
  // What has the focus is what Enter opens, and closing it leads back to its row.
  const second = window.getByTestId("report-row").nth(1);
  await expect(second).toBeFocused();
  await window.keyboard.press("Enter");
  await expect(second).toHaveAttribute("aria-pressed", "true");
  expect(await focused(window)).toBe("detail");
  await window.keyboard.press("Escape");
  await expect(window.getByTestId("detail")).toHaveCount(0);
  await expect(second).toBeFocused();
  await focused(window);
  await window.keyboard.press("Enter");
  expect(await focused(window)).toBe("detail");
  await window.keyboard.press("e");
  const dialog = window.getByRole("dialog");
  await expect(dialog).toBeVisible();
  await focused(window);
  await window.keyboard.press("Escape");
  await expect(dialog).toHaveCount(0);
  expect(await focused(window)).toBe("detail");
  await window.keyboard.press("e");
  await tabTo(window, "unveil");
  await window.keyboard.press("Enter");
  await expect(window.getByTestId("unveil")).toHaveCount(0);
  await tabTo(window, "form-Patient.name.family");
  await window.keyboard.press("Control+a");
  await window.keyboard.type("Muster");
  await window.keyboard.press("Control+Enter");
  await expect(dialog).toHaveCount(0);
  const batch = window.getByTestId("batch");
  await expect(batch).toHaveAttribute("data-phase", "waiting");
  await focused(window);
  await window.keyboard.press("Control+z");
  await expect(batch).toContainText("nothing was sent");
  await focused(window);
  const { byState } = (await core.call("status")).counts;
  expect(byState).toMatchObject({ held: 1, queued: 0, sending: 0, "in-progress": 0, completed: 0 });
  // It is on hold now, and sent after all by the bar.
  await undoSeconds(core, 1);
  await tabTo(window, "send-after-all");
  await window.keyboard.press("Enter");
  await expect(batch).toHaveAttribute("data-phase", "settled");
  await expect(batch).toContainText("completed");
  await focused(window);
  // The other one: the palette leads back, and J to the report.
  await window.keyboard.press("g");
  await window.keyboard.press("s");
  await focused(window);
  await window.keyboard.press("Control+k");
  await expect(window.getByTestId("palette")).toBeVisible();
  await focused(window);
  await window.keyboard.type("To correct");
  await window.keyboard.press("Enter");
  await expect(window.getByTestId("cause-page").getByTestId("report-row")).toHaveCount(1);
  expect(await focused(window)).toBe("To correct");
  await window.keyboard.press("j");
  expect(await focused(window)).toBe("detail");
  await window.keyboard.press("Enter");
  await tabTo(window, "form-Patient.name.family");
  await window.keyboard.press("Control+a");
  await window.keyboard.type("Muster");
  await window.keyboard.press("Control+Enter");
  await expect(window.getByText("All clear. No failed reports.")).toBeVisible();
  await expect.poll(async () => (await core.call("status")).counts).toMatchObject({ needsAttention: 0, completed: 2 });
  await focused(window);
});

test("failed reports of one cause are corrected by Fix once, by the keyboard", async ({ window, core }) => {
  await failed(core, 4);
  await window.keyboard.press("g");
  await window.keyboard.press("c");
  await tabTo(window, "fix-once");
  await window.keyboard.press("Enter");
  const dialog = window.getByRole("dialog");
  await expect(dialog).toBeVisible();
  await focused(window);
  await window.keyboard.press("Escape");
  await expect(dialog).toHaveCount(0);
  expect(await focused(window)).toBe("fix-once");
  await window.keyboard.press("Space");
  await tabTo(window, "unveil");
  await window.keyboard.press("Enter");
  expect(await focused(window)).toBe("fix-replace");
  await window.keyboard.type("Muster");
  await expect(window.getByTestId("fix-preview")).toContainText("Changes 4 reports");
  await tabTo(window, "fix-first");
  await window.keyboard.press("Enter");
  await focused(window);
  await expect(window.getByTestId("fix-rest")).toBeVisible();
  expect(await focused(window)).toBe("fix-rest");
  await window.keyboard.press("Enter");
  await expect(window.getByTestId("fix-progress")).toHaveAttribute("data-phase", "done");
  expect(await focused(window)).toBe("Close");
  await window.keyboard.press("Enter");
  await expect(dialog).toHaveCount(0);
  await expect(window.getByText("All clear. No failed reports.")).toBeVisible();
  expect(await focused(window)).toBe("To correct");
  await expect.poll(async () => (await core.call("status")).counts).toMatchObject({ needsAttention: 0, completed: 4 });
});
