// Packages of rules in the settings: an administrator imports them, sees what one would change, uses and removes them.

import { readFileSync } from "node:fs";

import { expect, sound, test } from "./window";
import { teachingPackage } from "./teaching";
import type { Core } from "./window";

/** A second version of the rules of teaching, which has become stricter with the names of places. */
const stricter = () =>
  teachingPackage().replaceAll('"version":"1.0.0"', '"version":"2.0.0"').replace('"maxLength":20', '"maxLength":5');

/** A report that the rules of teaching find nothing in. */
const clean = (core: Core) =>
  core.write("sound.json", readFileSync(core.sample("muster-fehler"), "utf8").replace("Muster-Fehler", "Muster"));

async function sent(core: Core, path: string) {
  const { submissions } = await core.send([path]);
  const [id] = submissions;
  return id ?? 0;
}

const stateOf = async (core: Core, id: number) => (await core.call("detail", { id })).row.state;

test("packages are imported, tried on the last reports, used and removed", async ({ window, core }) => {
  const id = await sent(core, clean(core));
  await expect.poll(() => stateOf(core, id)).toBe("completed");
  await window.getByTestId("nav-settings").click();
  const card = window.getByTestId("rules");
  const packages = card.getByTestId("rules-package");
  await expect(packages).toHaveCount(1);
  await expect(packages).toContainText("labcourier.practice@1.0.0");

  // One that cannot be used keeps no other out, and changes nothing.
  await core.choose([
    core.write("broken.tgz", "no package"),
    core.write("one.json", teachingPackage()),
    core.write("two.json", stricter()),
  ]);
  await card.getByTestId("rules-import").click();
  await expect(packages).toHaveCount(3);
  await expect(card.getByRole("alert")).toContainText("broken.tgz");
  await expect(window.getByText("2 packages are imported")).toBeVisible();
  await sound(window);

  // Nothing is used before somebody has seen what it would change.
  const first = packages.filter({ hasText: "document-strict@1.0.0" });
  const dialog = window.getByRole("dialog");
  await first.getByTestId("rules-use").click();
  await expect(dialog.getByTestId("rules-plan")).toContainText("In use: labcourier.practice@1.0.0");
  await dialog.getByTestId("rules-use-confirm").click();
  await expect(first).toContainText("In use");
  const second = packages.filter({ hasText: "@2.0.0" });
  await second.getByTestId("rules-use").click();
  await expect(dialog.getByTestId("rules-plan")).toContainText("Of the last 1 report, 1 would now be held.");
  await expect(dialog.getByTestId("rules-plan")).toContainText("document-strict@1.0.0");
  await expect(dialog.getByTestId("rules-reason")).toHaveCount(1);
  await expect(dialog.locator("[data-code=rule-too-long]")).toBeVisible();
  await expect(dialog.getByTestId("rules-report")).toContainText("s….json");
  // The name of the patient is masked here, too.
  const { row } = await core.call("detail", { id });
  await expect(dialog).not.toContainText(row.patient ?? "a patient");
  await sound(window);
  await dialog.getByRole("button", { name: "Cancel" }).click();
  await expect.poll(async () => (await core.call("rules")).find((one) => one.inUse)?.version).toBe("1.0.0");

  await second.getByTestId("rules-use").click();
  await dialog.getByTestId("rules-use-confirm").click();
  await expect(second).toContainText("In use");
  const next = await sent(core, core.sample("malaria"));
  await expect.poll(() => stateOf(core, next)).toBe("held");

  await second.getByTestId("rules-remove").click();
  await expect(dialog).toContainText("It is in use.");
  await dialog.getByRole("button", { name: "Cancel" }).click();
  await expect(packages).toHaveCount(3);
  await second.getByTestId("rules-remove").click();
  await dialog.getByTestId("rules-remove-confirm").click();
  await expect(packages).toHaveCount(2);
  await expect.poll(async () => (await core.call("rules")).filter((one) => one.inUse)).toEqual([]);
});

for (const [language, said] of [
  ["de", "Von der letzten Meldung würde nun 1 angehalten."],
  ["fr", "Sur la dernière déclaration, 1 serait désormais retenue."],
  ["it", "Dell’ultima dichiarazione, 1 sarebbe ora trattenuta."],
] as const) {
  test.describe(`in ${language}`, () => {
    test.use({ language, theme: "dark" });
    test("what a package would change is said before it is used", async ({ window, core }) => {
      await sent(core, clean(core));
      await core.useRules(core.write("one.json", teachingPackage()));
      await window.getByTestId("nav-settings").click();
      await core.choose([core.write("two.json", stricter())]);
      await window.getByTestId("rules-import").click();
      await window.getByTestId("rules-package").filter({ hasText: "@2.0.0" }).getByTestId("rules-use").click();
      await expect(window.getByTestId("rules-plan")).toContainText(said);
      await sound(window);
    });
  });
}
