// Every dialog that is not among the screens: how it is reached from the start, whatever language the window speaks.

import type { Page } from "@playwright/test";

import { by, detail } from "./screens";
import type { Screen } from "./screens";
import { dropped } from "./window";

const settings = (page: Page) => by(page, "nav-settings").click();
const dialog = (page: Page) => page.getByRole("dialog");

const [INTEGRATION, PRODUCTION] = [1, 2];

/** The row of an authority among the settings. */
async function authority(page: Page, at: number) {
  await settings(page);
  return by(page, "add-endpoint").locator("xpath=ancestor::section").getByRole("listitem").nth(at);
}

/** Asks to take this authority into use: the last button of its row. */
async function using(page: Page, at: number) {
  await (await authority(page, at)).getByRole("button").last().click();
  await by(page, "production-word").waitFor();
}

async function editing(page: Page) {
  await (await authority(page, INTEGRATION)).getByRole("button").first().click();
  await by(page, "endpoint-change").waitFor();
}

async function fixing(page: Page) {
  await by(page, "nav-correct").click();
  await by(page, "fix-once").click();
  await by(page, "fix-replace").fill("1217");
  await by(page, "fix-preview").waitFor();
}

/** What is decided about all reports of a cause at once. */
async function deciding(page: Page, at: number) {
  await by(page, "nav-correct").click();
  await by(page, "fix-once").waitFor();
  await by(page, "cause-page").getByRole("button").nth(at).click();
  await dialog(page).waitFor();
}

async function correcting(page: Page) {
  await detail(page, "failed");
  await dropped(page, "/a/corrected.json");
  await by(page, "drop-as-correction").waitFor();
}

async function reading(page: Page) {
  await by(page, "nav-certificate").click();
  await by(page, "certificate-import").click();
  await by(page, "certificate-password").fill("right");
  await page.keyboard.press("Enter");
  await by(page, "certificate-confirm").waitFor();
}

export const DIALOGS: Record<string, Screen> = {
  "production dialog": { do: (page) => using(page, PRODUCTION) },
  "integration dialog": { do: (page) => using(page, INTEGRATION) },
  "add endpoint": { do: (page) => settings(page).then(() => by(page, "add-endpoint").click()) },
  "edit endpoint": { do: editing },
  "remove endpoint": { do: (page) => editing(page).then(() => by(page, "endpoint-remove").click()) },
  "fix once": { names: true, do: fixing },
  "fix once goes on": {
    names: true,
    do: async (page) => {
      await fixing(page);
      await by(page, "fix-first").click();
      await by(page, "fix-rest").waitFor();
    },
  },
  "resubmit a cause": { do: (page) => deciding(page, 1) },
  "withdraw a cause": { do: (page) => deciding(page, 2) },
  release: { do: (page) => detail(page, "held").then(() => by(page, "action-release").click()) },
  withdraw: { do: (page) => detail(page, "failed").then(() => by(page, "action-withdraw").click()) },
  "keep view": {
    do: async (page) => {
      await by(page, "nav-reports").click();
      await by(page, "report-row").first().waitFor();
      await by(page, "views").click();
      await page.getByRole("menuitem").last().click();
      await by(page, "view-name").waitFor();
    },
  },
  discard: {
    do: async (page) => {
      await by(page, "paste-text").click();
      await by(page, "paste-content").fill("{}");
      await page.keyboard.press("Escape");
      await by(page, "discard").waitFor();
    },
  },
  "dropped on a report": { do: correcting },
  "dropped as a correction": {
    do: async (page) => {
      await correcting(page);
      await by(page, "drop-as-correction").click();
      await by(page, "candidate-row").waitFor();
    },
  },
  "what was not sent": {
    do: async (page) => {
      await by(page, "choose-files").click();
      await by(page, "candidate-row").nth(4).waitFor();
      await by(page, "send-button").click();
      await by(page, "undo").waitFor();
      await by(page, "batch").getByRole("button").nth(1).click();
      await dialog(page).waitFor();
    },
  },
  "remove rules": { do: (page) => settings(page).then(() => by(page, "rules-remove").first().click()) },
  "read certificate": { do: reading },
  "remove certificate": {
    do: (page) =>
      by(page, "nav-certificate")
        .click()
        .then(() => by(page, "certificate-remove").first().click()),
  },
  "new vault": {
    query: { keychain: "none" },
    do: async (page) => {
      await reading(page);
      await by(page, "certificate-confirm").click();
      await by(page, "vault-choose").click();
      await by(page, "vault-again").waitFor();
    },
  },
  "open vault": { query: { sealed: "1" }, do: (page) => by(page, "vault-open").click() },
  administration: {
    query: { closed: "1" },
    do: (page) => settings(page).then(() => by(page, "administration-enter").first().click()),
  },
  "passphrase of administration": {
    do: (page) => settings(page).then(() => by(page, "administration-choose").click()),
  },
  "audit log": { do: (page) => settings(page).then(() => by(page, "audit-log").click()) },
  update: { query: { update: "0.2.0" }, do: (page) => settings(page).then(() => by(page, "update-install").click()) },
};
