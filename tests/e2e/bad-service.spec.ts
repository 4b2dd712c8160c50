import { type Page } from "@playwright/test";
import { startStandIn } from "./support/service";
import { addConnection } from "./support/steps";
import { expect, test } from "./support/test";

test("a wrong key: the service refuses it, and what was typed is still there", async ({ signedIn: page, desk, service }) => {
  await page.goto(`${desk.url}/settings`);
  const form = await addConnection(page, { name: "Mistyped", url: service.url, key: "not-the-key" });
  await expect(page.getByText("The service refused the key")).toBeVisible();
  await expect(form.getByLabel("Name")).toHaveValue("Mistyped");
  await expect(form.getByLabel("Base URL")).toHaveValue(service.url);
  await expect(form.getByLabel("Key", { exact: true })).toHaveValue("not-the-key");
  await expect(form.getByText("Nothing was saved")).toBeVisible();
  expect(await connectionId(page, desk.url, "Mistyped")).toBe("");
});

test("a key that may not be used is not called wrong: the status and what the service says stand there", async ({
  signedIn: page,
  desk,
}) => {
  const strict = await startStandIn((_request, response) => {
    response.writeHead(403, { "content-type": "application/json" }).end('{"code":"FORBIDDEN","message":"For training only."}');
  });
  await page.goto(`${desk.url}/settings`);
  const form = await addConnection(page, { name: "Training", url: strict.url, key: "0123-4567-89ab" });
  await expect(form.getByText("The service does not allow this key to be used")).toBeVisible();
  await expect(form.getByText("The service answers 403: For training only.")).toBeVisible();
  await expect(form.getByText(/refused the key|revoked/)).toHaveCount(0);
  await strict.stop();
});

test("a service that is down is named as such, when it is saved and on every page", async ({ signedIn: page, desk }) => {
  const gone = await startStandIn((_request, response) => response.end());
  await gone.stop();
  await page.goto(`${desk.url}/settings`);
  await addConnection(page, { name: "Gone", url: gone.url, key: "k" });
  await expect(page.getByText("The service could not be reached").first()).toBeVisible();
  await saveAnyway(page);
  const id = await connectionId(page, desk.url, "Gone");
  // The sidebar and Settings agree about it.
  const card = page.getByRole("button", { name: "Switch connection, now Gone" }).filter({ visible: true });
  const row = page.locator(`[data-connection="${id}"]`);
  await page.goto(`${desk.url}/settings?connection=${id}`);
  await expect(card).toContainText("unreachable");
  await expect(row.getByText("unreachable", { exact: true })).toBeVisible();
  for (const path of ["jobs", "queue", "assets"]) {
    await page.goto(`${desk.url}/${path}?connection=${id}`);
    await expect(page.getByText("The service cannot be reached").first()).toBeVisible();
    await expect(page.getByText("No jobs yet")).toHaveCount(0);
  }
});

test("a web page in the service's place is told apart from a service that is down", async ({ signedIn: page, desk }) => {
  const website = await startStandIn((_request, response) => {
    response.writeHead(200, { "content-type": "text/html" }).end("<!doctype html><title>Hello</title><p>Not a service");
  });
  await page.goto(`${desk.url}/settings`);
  await addConnection(page, { name: "Website", url: website.url, key: "k" });
  await expect(page.getByText("The address answers, but not like a compatible service").first()).toBeVisible();
  await saveAnyway(page);
  const id = await connectionId(page, desk.url, "Website");
  await page.goto(`${desk.url}/jobs?connection=${id}`);
  await expect(page.getByText("The answer is not from a compatible service").first()).toBeVisible();
  await website.stop();
});

test("a service that never answers: the page comes at once, and says after its time limit that it waits in vain", async ({
  signedIn: page,
  desk,
}) => {
  const slow = await startStandIn(() => undefined);
  await page.goto(`${desk.url}/settings`);
  await addConnection(page, { name: "Slow", url: slow.url, key: "k" });
  await expect(page.getByText("The service could not be reached").first()).toBeVisible();
  await saveAnyway(page);
  const id = await connectionId(page, desk.url, "Slow");
  await page.goto(`${desk.url}/jobs?connection=${id}`, { waitUntil: "commit" });
  await expect(page.getByRole("heading", { name: "Jobs" })).toBeVisible({ timeout: 15_000 });
  await expect(page.getByText("The service did not answer in time").first()).toBeVisible();
  await slow.stop();
});

/** Settings that the service rejected are saved only on demand. */
async function saveAnyway(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Save anyway" }).click();
  await expect(page.getByRole("button", { name: "Save anyway" })).toHaveCount(0);
}

async function connectionId(page: Page, url: string, name: string): Promise<string> {
  const answer: { connections: { id: string; name: string }[] } = await (await page.request.get(`${url}/api/console/connections`)).json();
  return answer.connections.find((connection) => connection.name === name)?.id ?? "";
}
