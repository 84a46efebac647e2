// Every screen of the window: how it is reached from the start, and what the made-up core is asked for.

export const by = (page, id) => page.locator(`[data-testid="${id}"]`);

export const SCREENS = {
  welcome: { query: { first: "1" } },
  send: {},
  candidates: { do: (page) => chosen(page) },
  reports: { do: (page) => by(page, "nav-reports").click().then(() => by(page, "report-row").first().waitFor()) },
  detail: { do: (page) => detail(page, "failed") },
  timeline: { do: (page) => detail(page, "failed").then(() => by(page, "tab-timeline").click()) },
  source: { do: (page) => detail(page, "failed").then(() => by(page, "tab-source").click()) },
  "correct dialog": { do: (page) => detail(page, "failed").then(() => by(page, "action-correct").click()) },
  "to correct": { do: (page) => by(page, "nav-correct").click().then(() => by(page, "cause").first().waitFor()) },
  overview: { do: (page) => by(page, "nav-overview").click() },
  statement: {
    do: async (page) => {
      await by(page, "nav-overview").click();
      await by(page, "statement-open").click();
      await by(page, "statement").first().waitFor();
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
  locked: { do: (page) => by(page, "lock").click().then(() => by(page, "unlock").waitFor()) },
  "locked by passphrase": { query: { passphrase: "open sesame" } },
  passphrase: { do: (page) => by(page, "nav-settings").click().then(() => by(page, "choose-passphrase").click()) },
  support: {
    do: async (page) => {
      await by(page, "nav-settings").click();
      await by(page, "support").click();
      await by(page, "support-file").first().waitFor();
    },
  },
  palette: { do: (page) => page.keyboard.press("Control+k").then(() => by(page, "palette").waitFor()) },
  keys: { do: (page) => page.keyboard.press("?") },
};

export async function chosen(page) {
  await by(page, "choose-files").click();
  await by(page, "candidate-row").nth(4).waitFor();
}

export async function detail(page, state) {
  await by(page, "nav-reports").click();
  await page.locator(`[data-testid="report-row"][data-state="${state}"]`).first().click();
  await by(page, "detail-state").waitFor();
}
