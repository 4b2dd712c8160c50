import { availableParallelism } from "node:os";
import { defineConfig } from "@playwright/test";
import { browserFlags, findTestBrowser } from "./bin/browser.mjs";
import type { TargetOptions } from "./tests/e2e/support/test";

// A worker brings its own console, service and browser. It waits for a third of its time (a job, a moment to undo, a time limit): one more
// than there are cores. No retries: a test that needs one is wrong. The time limits end what hangs; no test is about them.
export default defineConfig<TargetOptions>({
  testDir: "tests/e2e",
  outputDir: "test-results/browser",
  workers: availableParallelism() + 1,
  retries: 0,
  forbidOnly: true,
  timeout: 150_000,
  expect: { timeout: 40_000 },
  reporter: [["list"], ["json", { outputFile: "test-results/playwright.json" }]],
  use: {
    browserName: "chromium",
    launchOptions: { executablePath: findTestBrowser(), args: browserFlags },
    viewport: { width: 1440, height: 900 },
    actionTimeout: 40_000,
    // What a failed test saw last is kept as a picture and as text. A trace costs a tenth of the processor time: `--trace on` makes one.
    screenshot: "only-on-failure",
    locale: "en-GB",
    timezoneId: "UTC",
  },
  // Those of which there are few begin, so that they are not waited for at the end.
  projects: [
    { name: "service on a port", testMatch: "journey.spec.ts", use: { target: "port" } },
    { name: "embedded", use: { target: "embedded" } },
  ],
});
