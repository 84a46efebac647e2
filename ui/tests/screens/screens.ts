// Every screen of the window: how it is reached from the start, what the made-up core is asked for, and whether names are shown.

import type { Page } from "@playwright/test";

export interface Screen {
  /** What the made-up core is asked for. */
  query?: Record<string, string>;
  /** Whether names are shown. */
  names?: boolean;
  /** The way there from the start. */
  do?: (page: Page) => Promise<unknown>;
}

export const by = (page: Page, id: string) => page.locator(`[data-testid="${id}"]`);

/** The word that is typed before a restore. */
const RESTORE: Record<string, string> = { de: "wiederherstellen", fr: "restaurer", it: "ripristinare" };

export const SCREENS: Record<string, Screen> = {
  welcome: { query: { first: "1" } },
  send: {},
  candidates: { do: (page) => chosen(page) },
  reports: {
    do: (page) =>
      by(page, "nav-reports")
        .click()
        .then(() => by(page, "report-row").first().waitFor()),
  },
  "reports chosen": { do: (page) => chosenReports(page) },
  "reports not done": {
    do: async (page) => {
      await chosenReports(page);
      await by(page, "bulk-resubmit").click();
      await by(page, "draft-lost").click();
      await by(page, "decided-why").click();
      await by(page, "decided-reason").first().waitFor();
    },
  },
  "not reportable": { do: (page) => chosenReports(page).then(() => by(page, "bulk-not-reportable").click()) },
  views: {
    do: async (page) => {
      await by(page, "nav-reports").click();
      await by(page, "report-row").first().waitFor();
      await by(page, "views").click();
    },
  },
  paste: {
    do: (page) =>
      by(page, "paste-text")
        .click()
        .then(() => by(page, "paste-content").waitFor()),
  },
  detail: { do: (page) => detail(page, "failed") },
  timeline: { do: (page) => detail(page, "failed").then(() => by(page, "tab-timeline").click()) },
  source: {
    names: true,
    do: async (page) => {
      await detail(page, "failed");
      await by(page, "tab-source").click();
      await by(page, "source-text").waitFor();
    },
  },
  "source search": {
    names: true,
    do: async (page) => {
      await detail(page, "failed");
      await by(page, "tab-source").click();
      await by(page, "source-text").press("Control+f");
    },
  },
  "detail with names": { names: true, do: (page) => detail(page, "failed") },
  "correct dialog with names": {
    names: true,
    do: async (page) => {
      await detail(page, "failed");
      await by(page, "action-correct").click();
    },
  },
  "correct dialog": { do: (page) => detail(page, "failed").then(() => by(page, "action-correct").click()) },
  "to correct": {
    do: (page) =>
      by(page, "nav-correct")
        .click()
        .then(() => by(page, "cause").first().waitFor()),
  },
  overview: { do: (page) => by(page, "nav-overview").click() },
  statement: {
    do: async (page) => {
      await by(page, "nav-overview").click();
      await by(page, "statement-open").click();
      await by(page, "statement").first().waitFor();
    },
  },
  ask: {
    do: (page) =>
      by(page, "nav-ask")
        .click()
        .then(() => by(page, "hit").first().waitFor()),
  },
  "ask for nothing": {
    do: async (page) => {
      await by(page, "nav-ask").click();
      await by(page, "ask-identifier").fill("urn:uuid:unknown");
      await by(page, "ask").click();
      await by(page, "ask-all").waitFor();
    },
  },
  certificate: {
    do: async (page) => {
      await by(page, "nav-certificate").click();
      await by(page, "test-endpoint").click();
    },
  },
  import: {
    do: async (page) => {
      await by(page, "nav-certificate").click();
      await by(page, "certificate-import").click();
      await by(page, "certificate-password").waitFor();
    },
  },
  settings: { do: (page) => by(page, "nav-settings").click() },
  "to production": {
    do: async (page) => {
      await by(page, "nav-settings").click();
      await by(page, "endpoint-production").getByRole("button").last().click();
      await by(page, "production-word").waitFor();
    },
  },
  "watched folder": {
    do: async (page) => {
      await by(page, "nav-settings").click();
      await by(page, "choose-watched").click();
      await by(page, "watch-what-comes").waitFor();
    },
  },
  "watched files": {
    query: { watched: "1" },
    do: async (page) => {
      await by(page, "show-refused").click();
      await by(page, "watched-refused").waitFor();
    },
  },
  closed: { query: { sealed: "1" }, do: (page) => by(page, "nav-reports").click() },
  unreachable: { query: { unreachable: "1" }, do: (page) => by(page, "try-now").waitFor() },
  "set aside": {
    do: async (page) => {
      await by(page, "nav-settings").click();
      await by(page, "set-aside-remove").click();
      await by(page, "set-aside-confirm").waitFor();
    },
  },
  safekeeping: {
    do: (page) =>
      by(page, "nav-settings")
        .click()
        .then(() => by(page, "safekeeping").scrollIntoViewIfNeeded()),
  },
  retention: {
    do: async (page) => {
      await by(page, "nav-settings").click();
      await by(page, "retention-days").click();
      await page.getByRole("option").nth(2).click();
      await page.locator("[data-testid=retention-plan]", { hasText: /\d/ }).waitFor();
    },
  },
  restore: {
    do: async (page) => {
      await by(page, "nav-settings").click();
      await by(page, "restore").click();
      await by(page, "restore-which").click();
      await page.getByRole("option").last().click();
      await by(page, "restore-passphrase").waitFor();
    },
  },
  restored: {
    do: async (page) => {
      await by(page, "nav-settings").click();
      await by(page, "restore").click();
      await by(page, "restore-which").click();
      await page.getByRole("option").first().click();
      const language = await page.evaluate(() => document.documentElement.lang);
      await by(page, "restore-word").fill(RESTORE[language] ?? "restore");
      await by(page, "restore-confirm").click();
      await by(page, "restore-done").waitFor();
    },
  },
  "rules plan": {
    do: async (page) => {
      await by(page, "nav-settings").click();
      await by(page, "rules-use").first().click();
      await by(page, "rules-reason").first().waitFor();
    },
  },
  locked: {
    do: (page) =>
      by(page, "lock")
        .click()
        .then(() => by(page, "unlock").waitFor()),
  },
  "locked by passphrase": { query: { passphrase: "open sesame" } },
  passphrase: {
    do: (page) =>
      by(page, "nav-settings")
        .click()
        .then(() => by(page, "choose-passphrase").click()),
  },
  support: {
    do: async (page) => {
      await by(page, "nav-settings").click();
      await by(page, "support").click();
      await by(page, "support-file").first().waitFor();
    },
  },
  palette: { do: (page) => page.keyboard.press("Control+k").then(() => by(page, "palette").waitFor()) },
  help: { do: (page) => page.keyboard.press("?").then(() => by(page, "help-page").waitFor()) },
};

/** All reports of the list, chosen together. */
async function chosenReports(page: Page) {
  await by(page, "nav-reports").click();
  await by(page, "report-row").first().waitFor();
  await by(page, "choose-all").click();
  await by(page, "bulk-resubmit").waitFor();
}

async function chosen(page: Page) {
  await by(page, "choose-files").click();
  await by(page, "candidate-row").nth(4).waitFor();
}

export async function detail(page: Page, state: string) {
  await by(page, "nav-reports").click();
  await page.locator(`[data-testid="report-row"][data-state="${state}"]`).first().click();
  await by(page, "detail-state").waitFor();
}
