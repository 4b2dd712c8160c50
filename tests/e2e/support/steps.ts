// User actions and observations shared by several tests.
import { expect, type Page } from "@playwright/test";
import { type Desk, owner } from "./desk";
import { isReady } from "./test";

export async function setUpByLink(page: Page, desk: Desk): Promise<void> {
  await page.goto(desk.setUpUrl);
  await page.getByLabel("Your name").fill(owner.name);
  await page.getByLabel("Email").fill(owner.email);
  await page.getByLabel("Password").fill(owner.password);
  await page.getByRole("button", { name: "Create owner account" }).click();
  // While a page streams, its content is briefly in the document twice, once hidden.
  await expect(page.getByRole("heading", { name: "Make your first image" }).filter({ visible: true })).toBeVisible();
  // Creating the account reloads the page.
  await page.waitForFunction(isReady);
}

/** Uses the sidebar, whose links end with counts. */
export async function goTo(page: Page, name: string): Promise<void> {
  await page
    .getByRole("navigation", { name: "Main" })
    .getByRole("link", { name: new RegExp(`^${name}`) })
    .click();
}

export type NewConnection = { name: string; url: string; key: string };

async function addConnection(page: Page, { name, url, key }: NewConnection): Promise<void> {
  await page.getByRole("button", { name: "Add a connection" }).click();
  const form = page.getByRole("region", { name: "Add a connection" });
  await form.getByLabel("Name").fill(name);
  await form.getByLabel("Base URL").fill(url);
  await form.getByLabel("Key", { exact: true }).fill(key);
  await form.getByRole("button", { name: "Save and check" }).click();
}

export async function connect(page: Page, connection: NewConnection): Promise<void> {
  await goTo(page, "Settings");
  await addConnection(page, connection);
  await expect(page.getByText("Connected")).toBeVisible();
  await page.getByRole("button", { name: `Use: ${connection.name}` }).click();
  await expect(page.getByRole("button", { name: `Switch connection (current: ${connection.name})` })).toBeVisible();
}

/** Saves a connection of the signed-in member even if its check fails. Returns its id. */
export async function saveConnection(page: Page, desk: Desk, connection: { name: string; baseUrl: string; key?: string }): Promise<string> {
  const data = { ...connection, shared: false, keep: true };
  const response = await page.request.post(`${desk.url}/api/console/connections`, { data, headers: { origin: desk.url } });
  expect(response.ok(), await response.text()).toBe(true);
  return ((await response.json()) as { connection: { id: string } }).connection.id;
}

/** Collects the errors that the browser reports from now on: missing files, policy violations and failed scripts. */
export function collectErrors(page: Page): string[] {
  const errors: string[] = [];
  page.on("console", (message) => void (message.type() === "error" && errors.push(`${message.text()} ${message.location().url}`)));
  page.on("pageerror", (error) => errors.push(error.message));
  return errors;
}
