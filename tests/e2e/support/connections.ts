import { type Page } from "@playwright/test";
import { type Desk } from "./desk";
import { expect } from "./test";

/** Saves a connection of the signed-in member even if its check fails. Returns its id. */
export async function saveConnection(page: Page, desk: Desk, connection: { name: string; baseUrl: string; key?: string }): Promise<string> {
  const data = { ...connection, shared: false, keep: true };
  const response = await page.request.post(`${desk.url}/api/console/connections`, { data, headers: { origin: desk.url } });
  expect(response.ok(), await response.text()).toBe(true);
  return ((await response.json()) as { connection: { id: string } }).connection.id;
}
