// Settings of a laboratory: its authorities changed and removed, patience with reports, what is kept of its journal.

import { copyFileSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { laboratory } from "./laboratory";
import { authority, expect, sound, test } from "./window";

test.use({ keychain: false });

test("the CA and the proxy of an authority are changed where it stands", async ({ window, core }) => {
  await core.call("protect_with_passphrase", { passphrase: "korrekt pferd batterie" });
  const made = await authority(core);
  const input = {
    name: "Pilot",
    baseUrl: made.base,
    environment: "integration" as const,
    release: null,
    language: null,
    proxy: null,
  };
  // Nobody has said whom to trust: its server is a stranger.
  await core.call("add_endpoint", { input: { ...input, caPem: null } });
  await fetch(`${core.address}/host/grant`, { method: "POST", body: JSON.stringify([made.p12]) });
  await core.call("certificate_import", { paths: [made.p12], password: made.password, endpoint: "Pilot" });
  const passes = async () =>
    (await core.call("test_endpoint", { name: "Pilot" })).every(({ outcome }) => outcome === "passed");
  expect(await passes()).toBe(false);

  await window.getByTestId("nav-settings").click();
  const edit = window.getByRole("button", { name: "Change Pilot" });
  await edit.click();
  const dialog = window.getByRole("dialog");
  const change = window.getByTestId("endpoint-change");
  await dialog.getByText("Advanced").click();
  await core.drop([made.ca]);
  await expect(window.getByTestId("endpoint-ca")).toContainText("Valid until");
  await sound(window);
  await change.click();
  await expect(dialog).toHaveCount(0);
  await expect.poll(passes).toBe(true);

  // A proxy that is no address is said at the field; one that nobody answers at stops the way; without it all is as before.
  await edit.click();
  const proxy = dialog.getByRole("textbox", { name: "Proxy" });
  await proxy.fill("no address");
  await change.click();
  await expect(proxy).toHaveAttribute("aria-invalid", "true");
  await proxy.fill("http://127.0.0.1:9");
  await change.click();
  await expect(dialog).toHaveCount(0);
  expect(await passes()).toBe(false);
  expect((await core.call("endpoints")).find(({ name }) => name === "Pilot")).toMatchObject({
    ownCa: true,
    proxy: "http://127.0.0.1:9",
  });
  await edit.click();
  await expect(proxy).toHaveValue("http://127.0.0.1:9");
  await proxy.fill("");
  await change.click();
  await expect(dialog).toHaveCount(0);
  await expect.poll(passes).toBe(true);
});

test("an authority is renamed with its reports, moved only knowingly, and removed only when nothing waits there", async ({
  window,
  core,
}) => {
  const made = await laboratory(core, "Pilot");
  await core.call("use_endpoint", { name: "Pilot" });
  const sent = await core.send([core.sample("covid")]);
  const [id] = sent.submissions;
  await expect.poll(async () => (await core.call("detail", { id: id ?? 0 })).row.state).toBe("completed");

  await window.getByTestId("nav-settings").click();
  await window.getByRole("button", { name: "Change Pilot" }).click();
  const dialog = window.getByRole("dialog");
  const change = window.getByTestId("endpoint-change");
  await expect(change).toBeDisabled();
  await sound(window);
  await dialog.getByRole("textbox", { name: "Name" }).fill("FOPH");
  await change.click();
  await expect(dialog).toHaveCount(0);
  await expect(window.getByText("FOPH is changed")).toBeVisible();
  await expect.poll(async () => (await core.call("detail", { id: id ?? 0 })).row.endpoint).toBe("FOPH");

  // Another address: what is no address is said at the field; where reports were taken in, only on somebody's word.
  await window.getByRole("button", { name: "Change FOPH" }).click();
  const address = dialog.getByRole("textbox", { name: "Address" });
  await address.fill("http://127.0.0.1:9/v1/fhir");
  await change.click();
  await expect(address).toHaveAttribute("aria-invalid", "true");
  const other = made.base.replace("127.0.0.1", "localhost");
  await address.fill(other);
  await change.click();
  await expect(dialog.getByRole("alert")).toBeVisible();
  await expect(address).toHaveValue(other);
  await dialog.getByText("It is the same authority under another address").click();
  await change.click();
  await expect(dialog).toHaveCount(0);
  await expect
    .poll(async () => (await core.call("endpoints")).find((one) => one.name === "FOPH")?.baseUrl)
    .toBe(`${other}`);

  // In use it cannot be removed while there is another; out of use it can, and its report stays.
  const second = {
    name: "Second",
    baseUrl: made.base,
    environment: "integration" as const,
    release: null,
    language: null,
    proxy: null,
  };
  await core.call("add_endpoint", { input: { ...second, caPem: readFileSync(made.ca, "utf8") } });
  await window.getByRole("button", { name: "Change FOPH" }).click();
  await window.getByTestId("endpoint-remove").click();
  await window.getByTestId("endpoint-remove-confirm").click();
  await expect(dialog.getByRole("alert").last()).toBeVisible();
  await dialog.getByRole("button", { name: "Close" }).click();
  await core.call("use_endpoint", { name: "Second" });
  await window.getByRole("button", { name: "Change FOPH" }).click();
  await window.getByTestId("endpoint-remove").click();
  await window.getByTestId("endpoint-remove-confirm").click();
  await expect(window.getByText("FOPH is removed")).toBeVisible();
  await expect.poll(async () => (await core.call("endpoints")).map((one) => one.name)).not.toContain("FOPH");
});

test("version and language of an authority are changed where it stands, and reports go on", async ({
  window,
  core,
}) => {
  await laboratory(core, "Pilot");
  await core.call("use_endpoint", { name: "Pilot" });
  await window.getByTestId("nav-settings").click();
  await window.getByRole("button", { name: "Change Pilot" }).click();
  const dialog = window.getByRole("dialog");
  const change = window.getByTestId("endpoint-change");
  await expect(change).toBeDisabled();
  await dialog.getByRole("button", { name: /Interface version/ }).click();
  await window.getByRole("option", { name: "1.8.0" }).click();
  await dialog.getByRole("button", { name: /Default report language/ }).click();
  await window.getByRole("option", { name: "Swiss French" }).click();
  await sound(window);
  await change.click();
  await expect(dialog).toHaveCount(0);
  const pilot = async () => (await core.call("endpoints")).find((one) => one.name === "Pilot");
  await expect.poll(pilot).toMatchObject({ release: "1.8.0", language: "fr-CH", ownCa: true, inUse: true });
  await core.send([core.sample("covid")]);
  await expect.poll(async () => (await core.call("status")).counts.completed).toBe(1);
});

test("what stands on the list of Send is not taken along to the other room, and that is said", async ({
  window,
  core,
}) => {
  await laboratory(core, "Pilot");
  await core.drop([core.sample("covid")]);
  await expect(window.getByTestId("send-button")).toBeEnabled();
  // As where a laboratory that could not be opened opens by itself.
  await core.call("use_endpoint", { name: "Pilot" });
  await expect(window.getByText("1 entry is no longer on the list")).toBeVisible();
  await expect(window.getByTestId("send-button")).toHaveCount(0);
});

test("how long is too long for a report in progress is kept beyond the end of the program", async ({
  window,
  core,
  restart,
}) => {
  await window.getByTestId("nav-settings").click();
  await window.getByTestId("attention-days").click();
  await window.getByRole("option", { name: "7 days" }).click();
  await expect.poll(async () => (await core.call("status")).attentionDays).toBe(7);
  await restart();
  await window.getByTestId("nav-settings").click();
  await expect(window.getByTestId("attention-days")).toContainText("7 days");
});

test("backups have a second place, and a journal that was set aside is deleted only knowingly", async ({
  window,
  core,
}) => {
  await window.getByTestId("nav-settings").click();
  // Practice has nothing worth keeping.
  await expect(window.getByTestId("attention-days")).toBeVisible();
  await expect(window.getByTestId("safekeeping")).toHaveCount(0);
  await laboratory(core, "Pilot");
  const aside = join(core.folder, "home/laboratory", "journal.db.set-aside-1795000000000000");
  writeFileSync(aside, "x".repeat(12_000));
  await window.getByTestId("nav-overview").click();
  await window.getByTestId("nav-settings").click();
  const card = window.getByTestId("safekeeping");
  await window.getByTestId("backup-now").click();
  await expect(window.getByText("A backup is made")).toBeVisible();
  // The program makes the first one by itself, perhaps at this moment.
  expect((await core.call("safekeeping"))?.backups).toBeGreaterThan(0);
  await expect(window.getByTestId("backup-place")).toContainText("None.");
  const place = join(core.folder, "second");
  mkdirSync(place);
  await core.choose([place]);
  await window.getByTestId("backup-place-choose").click();
  await expect(window.getByTestId("backup-place")).toContainText(place);
  expect(readdirSync(place)).toHaveLength(1);
  await window.getByTestId("backup-place-stop").click();
  await expect(window.getByTestId("backup-place")).toContainText("None.");

  await expect(card.getByTestId("set-aside")).toContainText("12 kB");
  await sound(window);
  await card.getByTestId("set-aside-remove").click();
  await window.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();
  expect(existsSync(aside)).toBe(true);
  await card.getByTestId("set-aside-remove").click();
  await window.getByTestId("set-aside-confirm").click();
  await expect(card.getByTestId("set-aside")).toHaveCount(0);
  expect(existsSync(aside)).toBe(false);
});

test("what a restore has lost is named until it is handed over again, also once its notice was read", async ({
  window,
  core,
  restart,
}) => {
  const home = join(core.folder, "home/practice");
  const sent = await core.send([core.sample("covid")]);
  await expect
    .poll(async () => (await core.call("detail", { id: sent.submissions[0] ?? 0 })).row.state)
    .toBe("completed");
  const content = readFileSync(core.sample("malaria"), "utf8");
  // It never got to the authority, where it would be found.
  await core.call("set_paused", { paused: true });
  const lost = core.write("malaria-lost.json", content);
  await core.send([lost]);
  // Nothing writes there while it is taken away.
  await restart(() => {
    const gone = readdirSync(home).filter((name) => name.startsWith("journal.db") && !name.includes("register"));
    for (const name of [...gone, "backups"]) rmSync(join(home, name), { recursive: true, force: true });
  });
  await window.getByTestId("nav-overview").click();
  const list = window.getByTestId("lost-reports");
  // A file may be named after a patient: its name is masked as theirs are.
  await expect(list).toContainText("m…-l….json");
  await expect(list).not.toContainText("malaria");
  await list.getByRole("button", { name: "Show names" }).click();
  await expect(list).toContainText("malaria-lost.json");
  await expect(list.getByRole("button", { name: "Show names" })).toHaveCount(0);
  await sound(window);
  for (const read of await window.getByRole("button", { name: "Read", exact: true }).all()) await read.click();
  await expect(list).toContainText("malaria-lost.json");
  await core.send([lost]);
  await expect(list).toHaveCount(0);
});

test("a laboratory enters its deadlines; each report has a clock until the authority has taken it", async ({
  window,
  core,
}) => {
  // Practice has an example.
  await window.getByTestId("nav-settings").click();
  const table = window.getByTestId("deadlines");
  await expect(table).toContainText("are made up");
  await laboratory(core, "Pilot");
  await core.call("use_endpoint", { name: "Pilot" });
  await window.getByTestId("nav-overview").click();
  await window.getByTestId("nav-settings").click();
  await expect(table.getByRole("row")).toHaveCount(0);
  await expect(table).not.toContainText("are made up");
  const add = async (name: string) => {
    await table.getByTestId("deadline-add").click();
    await window.getByRole("option", { name, exact: true }).click();
  };
  // Who is quicker than the core loses no list that is open and no row.
  let answer = () => {};
  const held = new Promise<void>((resolve) => (answer = resolve));
  await window.route("**/call/set_deadlines", (route) => held.then(() => route.continue()));
  await add("Malaria");
  await add("COVID-19");
  await table.getByTestId("deadline-add").click();
  answer();
  await expect(table.getByTestId("deadline-malaria")).toBeVisible();
  await expect(table.getByTestId("deadline-covid-19")).toBeVisible();
  await expect(window.getByRole("option", { name: "Gonorrhoea", exact: true })).toBeVisible();
  await window.keyboard.press("Escape");
  await table.getByTestId("deadline-malaria").getByRole("button").first().click();
  await window.getByRole("option", { name: "2 hours", exact: true }).click();
  const rows = async () => (await core.call("deadlines")).deadlines;
  await expect.poll(rows).toEqual([
    { disease: "covid-19", hours: 24 },
    { disease: "malaria", hours: 2 },
  ]);
  await sound(window);

  await core.call("set_paused", { paused: true });
  const now = (path: string) => {
    const content = readFileSync(path, "utf8").replace(
      /"timestamp": *"[^"]+"/,
      `"timestamp": "${new Date().toISOString()}"`,
    );
    return core.write(path.split("/").at(-1) ?? "", content);
  };
  const paths = ["covid", "malaria", "gonorrhoea"].map((name) => now(core.sample(name)));
  await core.send(paths);
  await window.getByTestId("nav-reports").click();
  const reports = window.getByTestId("report-row");
  await expect(reports).toHaveCount(3);
  await window.getByTestId("sort-deadline").click();
  await expect(reports.nth(0)).toContainText(/Malaria.*1\d\d mins left|Malaria.*2 hrs? left/);
  await expect(reports.nth(1)).toContainText(/24 hrs? left/);
  await expect(reports.nth(2).getByTestId("deadline")).toHaveCount(0);
  await sound(window);
  await reports.nth(0).click();
  await expect(window.getByTestId("detail").getByTestId("deadline")).toBeVisible();
  await window.getByTestId("nav-overview").click();
  await expect(window.getByTestId("next-deadline")).toContainText("Malaria");
  const compliance = window.getByTestId("overview-deadlines");
  await expect(compliance).toContainText(
    "2 reports have a deadline: none was received in time, none late; none is overdue.",
  );
  await compliance.getByRole("button", { name: /Not received yet, with time left/ }).click();
  // The third report has no deadline: it is not among them.
  await expect(reports).toHaveCount(2);
  await expect(window.getByTestId("filter-deadline")).toHaveText("Not received yet, with time left");
  await expect(window.getByTestId("group-all")).toHaveText("All2");
  await sound(window);
  await window.getByTestId("filter-disease").click();
  await window.getByRole("menuitemradio", { name: /Malaria.*1/ }).click();
  await expect(reports).toHaveCount(1);
  await window.getByTestId("filter-deadline").click();
  await window.getByRole("menuitemradio", { name: /deadline passed/ }).click();
  await expect(reports).toHaveCount(0);
  await expect(window.getByText("Malaria and Not received yet, deadline passed")).toBeVisible();
  await window.getByTestId("clear-filters").click();
  await expect(reports).toHaveCount(3);
  await window.getByTestId("nav-overview").click();
  await window
    .getByTestId("overview-diseases")
    .getByRole("button", { name: /Gonorrh/ })
    .click();
  await expect(reports).toHaveCount(1);
  await expect(window.getByTestId("filter-disease")).toHaveText(/Gonorrh/);

  // What the authority has taken has no clock.
  await core.call("set_paused", { paused: false });
  await window.getByTestId("nav-reports").click();
  await expect.poll(async () => (await core.call("status")).counts.completed).toBe(3);
  await expect(window.getByTestId("deadline")).toHaveCount(0);
  await window.getByTestId("nav-overview").click();
  await expect(compliance).toContainText(
    "2 reports have a deadline: 2 were received in time, none late; none is overdue.",
  );
});

test("a watched folder is asked about what lies in it; what is left there stays in sight until it is sent", async ({
  window,
  core,
}) => {
  const out = join(core.folder, "out");
  mkdirSync(join(out, "older"), { recursive: true });
  const put = (name: string, to: string) => copyFileSync(core.sample(name), join(out, to));
  put("covid", "older/covid.json");
  put("malaria", "malaria.json");
  const watched = async () => (await core.call("status")).watchedFolder;
  const completed = async () => (await core.call("status")).counts.completed;
  const choose = async () => {
    await core.choose([out]);
    await window.getByTestId("choose-watched").click();
  };
  await window.getByTestId("nav-settings").click();
  await choose();
  const dialog = window.getByRole("dialog");
  await expect(dialog).toContainText("2 files lie in this folder already");
  await expect(dialog).toContainText("The newest was last changed");
  await sound(window);
  await dialog.getByRole("button", { name: "Cancel" }).click();
  await expect.poll(() => watched()).toBe(null);

  await choose();
  await expect(window.getByTestId("watch-what-comes")).toBeFocused();
  await window.keyboard.press("Enter");
  await expect.poll(watched).toBe(out);
  await expect(window.getByTestId("left-lying")).toContainText(
    "2 files lay in the watched folder before and were not sent",
  );
  put("gonorrhoea", "gonorrhoea.json");
  await expect.poll(completed).toBe(1);
  await window.getByTestId("nav-send").click();
  await sound(window);
  await window.getByTestId("look-at-left").click();
  await expect(window.getByTestId("candidate-row")).toHaveCount(2);
  await window.getByTestId("send-button").click();
  await expect.poll(completed).toBe(3);
  await window.getByTestId("nav-settings").click();
  await expect(window.getByText(out)).toBeVisible();
  await expect(window.getByTestId("left-lying")).toHaveCount(0);

  // Of another folder all is sent where a person says so, and an empty one is no question.
  const other = join(core.folder, "other");
  mkdirSync(other);
  copyFileSync(core.sample("legionellosis"), join(other, "one.xml"));
  await core.choose([other]);
  await window.getByTestId("choose-watched").click();
  await expect(dialog).toContainText("A file lies in this folder already. Is it to be sent?");
  await window.getByTestId("watch-send-these").click();
  await expect.poll(completed).toBe(4);
  const empty = join(core.folder, "empty");
  mkdirSync(empty);
  await core.choose([empty]);
  await window.getByTestId("choose-watched").click();
  await expect.poll(watched).toBe(empty);
});

test("on a shared computer administrators alone change where reports go, and everybody sends them", async ({
  window,
  core,
  restart,
}) => {
  const secret = "korrekt pferd batterie";
  await window.getByTestId("nav-settings").click();
  await window.getByTestId("administration-choose").click();
  await window.getByTestId("passphrase-new").fill(secret);
  await window.getByTestId("passphrase-again").fill(secret);
  await window.getByTestId("passphrase-keep").click();
  // Whoever has chosen it goes on until the window is locked, or closed.
  const notice = window.getByTestId("administration-notice");
  await expect(notice).toHaveAttribute("data-closed", "false");
  await expect(window.getByTestId("add-endpoint")).toBeEnabled();
  await restart();

  await core.drop([core.sample("covid")]);
  await window.getByTestId("send-button").click();
  await expect.poll(async () => (await core.call("status")).counts.completed).toBe(1);
  await window.getByTestId("nav-settings").click();
  await expect(notice).toHaveAttribute("data-closed", "true");
  for (const what of ["add-endpoint", "choose-watched", "attention-days", "choose-passphrase"]) {
    await expect(window.getByTestId(what), what).toBeDisabled();
  }
  await sound(window);
  // What comes by another way is refused by the core.
  await expect(core.call("set_attention_days", { days: 5 })).rejects.toThrow("administration-closed");
  await window.getByTestId("nav-certificate").click();
  await expect(window.getByTestId("certificate-import")).toBeDisabled();
  // Nobody is asked for the password of a file that they may not import.
  await core.drop([core.write("own.p12", "sealed")]);
  await expect(notice).toContainText("Only administrators import certificates");
  await expect(window.getByTestId("certificate-password")).toHaveCount(0);

  await window.getByTestId("administration-enter").click();
  await window.getByTestId("administration-passphrase").fill("korrekt pfert");
  await window.keyboard.press("Enter");
  await expect(window.getByText("That is not the passphrase")).toBeVisible();
  await window.getByTestId("administration-passphrase").fill(secret);
  await window.keyboard.press("Enter");
  await expect(notice).toHaveAttribute("data-closed", "false");
  // What was dropped goes on for whoever may.
  await expect(window.getByText("own.p12")).toBeVisible();
  await window.getByRole("button", { name: "Cancel" }).click();
  await expect(window.getByTestId("certificate-import")).toBeEnabled();
  await window.getByTestId("administration-close").click();
  await expect(window.getByTestId("certificate-import")).toBeDisabled();

  // Who has changed what stands there for everybody; what was refused changed nothing.
  await window.getByTestId("nav-settings").click();
  await window.getByTestId("audit-log").click();
  const entries = window.getByTestId("audit-entry");
  await expect(entries).toHaveCount(1);
  await expect(entries).toContainText("A passphrase of the administrators was chosen");
  await sound(window);
});
