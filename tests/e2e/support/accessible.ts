// What axe says of a page as a person has it: after the framework has put in its title, which is away for a moment at each navigation.
import AxeBuilder from "@axe-core/playwright";
import { expect, type Page } from "@playwright/test";

/** The rules that read colours; all others read the document, which is the same in both themes. */
const colourRules = ["color-contrast", "link-in-text-block"];

export async function expectAccessible(page: Page): Promise<void> {
  await expectNoViolation(page, new AxeBuilder({ page }));
}

/** All rules in the light theme, those of colours in the dark one too. Without motion, so that no colour is caught on its way. */
export async function expectAccessibleInBothThemes(page: Page): Promise<void> {
  await turn(page, "dark");
  await expectNoViolation(page, new AxeBuilder({ page }).withRules(colourRules));
  await turn(page, "light");
  await expectNoViolation(page, new AxeBuilder({ page }));
}

async function turn(page: Page, colorScheme: "light" | "dark"): Promise<void> {
  await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
  await expect(page.locator("html")).toHaveAttribute("data-theme", colorScheme);
}

async function expectNoViolation(page: Page, axe: AxeBuilder): Promise<void> {
  await expect(page).toHaveTitle(/./);
  const { violations } = await axe.analyze();
  expect(violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target.join(" ")).join(", ")}`)).toEqual([]);
}
