import { availableParallelism } from "node:os";
import { defineConfig } from "@playwright/test";
import { browserFlags, findTestBrowser } from "./bin/browser.mjs";

// Each worker has its own console, service and browser, and is idle for a third of the time. So there is one more worker than cores.
export default defineConfig({
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
    // A trace takes a tenth of the processor time. Use `--trace on` to record one.
    screenshot: "only-on-failure",
    locale: "en-GB",
    timezoneId: "UTC",
  },
});
