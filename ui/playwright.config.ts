// The window in Chromium: journeys against the real core, and every screen with made-up data. CHROMIUM names the browser; the
// default is Debian's.

import { defineConfig } from "@playwright/test";

const LONG = /@long/;

/** A project that plain `playwright test` does not know. */
function only<Project>(command: string, project: Project): Project[] {
  return process.env.npm_lifecycle_event === command ? [project] : [];
}

export default defineConfig({
  projects: [
    { name: "screens", testDir: "tests/screens", testIgnore: "pictures.spec.ts" },
    { name: "journeys", testDir: "tests/journeys", grepInvert: LONG },
    // For one command alone: `npm run test:long` runs what takes a minute each, `npm run screenshots` takes pictures, and
    // `cargo xtask bench ui` measures.
    ...only("test:long", { name: "long", testDir: "tests/journeys", grep: LONG }),
    ...only("test:speed", { name: "speed", testDir: "tests/speed" }),
    ...only("screenshots", { name: "pictures", testDir: "tests/screens", testMatch: "pictures.spec.ts" }),
  ],
  fullyParallel: true,
  forbidOnly: true,
  // Each worker is a browser and a core of its own; a small machine has two processors.
  workers: 2,
  // How long a journey waits costs time only where it fails, and a computer on which others compile is ten times slower.
  timeout: 360_000,
  expect: { timeout: 90_000 },
  reporter: "list",
  outputDir: "../target/browser",
  use: {
    viewport: { width: 1280, height: 800 },
    actionTimeout: 90_000,
    bypassCSP: false,
    // As the core of a journey: a day begins for both at the same time, at whatever hour the journeys run.
    timezoneId: "Europe/Zurich",
    // A colour that is on its way from one to another has a contrast that nobody chose, and axe measures it.
    contextOptions: { reducedMotion: "reduce" },
    launchOptions: {
      executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
      args: [
        "--no-sandbox",
        "--disable-gpu",
        "--disable-software-rasterizer",
        "--disable-dev-shm-usage",
        "--disable-background-networking",
      ],
    },
  },
});
