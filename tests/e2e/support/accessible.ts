// Runs axe on a page after the framework has set its title, which is missing briefly at each navigation.
import { readFileSync } from "node:fs";
import { expect, type Frame, type Page } from "@playwright/test";
import type axe from "axe-core";
import { type RunOptions } from "axe-core";

declare global {
  interface Window {
    axe: typeof axe;
  }
}

/** Half as large as `axe.source`. Every page parses it again. */
const axeSource = readFileSync("node_modules/axe-core/axe.min.js", "utf8");

/** The rules about colours. All others have the same result in both themes. */
const colourRules = ["color-contrast", "link-in-text-block"];

// Each document is checked separately, including frames of other origins.
const options: RunOptions = { iframes: false, resultTypes: ["violations"], preload: { assets: ["media"] } };

export async function expectAccessible(page: Page): Promise<void> {
  await expectNoViolations(page, options);
}

export async function expectAccessibleInBothThemes(page: Page): Promise<void> {
  await expectAccessibleInTheme(page, "dark");
  await expectAccessibleInTheme(page, "light");
}

/** Runs all rules in the light theme, and colour rules in the dark theme. Animations are disabled, so that colours are final. */
export async function expectAccessibleInTheme(page: Page, colorScheme: "light" | "dark"): Promise<void> {
  await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
  await expect(page.locator("html")).toHaveAttribute("data-theme", colorScheme);
  await expectNoViolations(page, colorScheme === "light" ? options : { ...options, runOnly: { type: "rule", values: colourRules } });
}

async function expectNoViolations(page: Page, options: RunOptions): Promise<void> {
  await expect(page).toHaveTitle(/./);
  for (const frame of page.frames()) expect(await findViolations(frame, options)).toEqual([]);
}

async function findViolations(frame: Frame, options: RunOptions): Promise<string[]> {
  // Wait for animations to end.
  await frame.waitForFunction(() =>
    document
      .getAnimations()
      .every(({ playState, effect }) => playState !== "running" || Number(effect?.getComputedTiming().endTime) > 1000),
  );
  if (!(await frame.evaluate(() => "axe" in window))) await frame.evaluate(axeSource);
  return frame.evaluate(async (options) => {
    const { violations } = await window.axe.run(document, options);
    return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target.join(" ")).join(", ")}`);
  }, options);
}
