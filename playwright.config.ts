import { availableParallelism } from "node:os";
import { defineConfig } from "@playwright/test";
import { browserFlags, findTestBrowser } from "./bin/browser.mjs";
import type { TargetOptions } from "./tests/e2e/support/test";

// A worker brings its own console, service and browser. It waits for more than half of its time (a job, a moment to undo, a time limit): two
// more than there are cores. No retries: a test that needs one is wrong.
export default defineConfig<TargetOptions>({
  testDir: "tests/e2e",
  outputDir: "test-results/browser",
  workers: availableParallelism() + 2,
  retries: 0,
  forbidOnly: true,
  timeout: 90_000,
  expect: { timeout: 20_000 },
  reporter: [["list"], ["json", { outputFile: "test-results/playwright.json" }]],
  use: {
    browserName: "chromium",
    launchOptions: { executablePath: findTestBrowser(), args: browserFlags },
    viewport: { width: 1440, height: 900 },
    actionTimeout: 20_000,
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
