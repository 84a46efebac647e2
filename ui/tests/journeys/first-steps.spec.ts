// From the first start to practice completed: what comes next is said on Send until all of it is done.

import { expect, test } from "./window";

test("the first steps stay until they are done, each opens its place, and they can be put away", async ({ window, core, restart }) => {
  const list = window.getByTestId("checklist");
  await expect(list).toContainText("First steps");
  await window.getByTestId("checklist-practice").click();
  await window.getByTestId("send-button").click();
  await expect(window.getByTestId("batch")).toHaveAttribute("data-phase", "settled");
  await expect(list).toContainText("Practise (done)");
  await restart();
  // As far as one was: the certificate is next.
  await expect(list).toContainText("Import the certificate that the authority has sent you");
  await window.getByTestId("checklist-authority").click();
  await expect(window.getByRole("dialog")).toContainText("Add an authority");
  await window.keyboard.press("Escape");
  await window.getByTestId("nav-send").click();
  await window.getByTestId("checklist-certificate").click();
  await expect(window.getByText("No certificate of the authority yet")).toBeVisible();
  await window.getByTestId("nav-send").click();
  await window.getByTestId("checklist-hide").click();
  await expect(list).toHaveCount(0);
  await expect.poll(() => core.call("preferences")).toMatchObject({ checklistHidden: true });
});
