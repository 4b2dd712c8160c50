import { type Page } from "@playwright/test";
import { createPattern, startFileSource } from "@/tests/support/file-source";
import { expectAccessible } from "./support/accessible";
import { type Desk, startDesk } from "./support/desk";
import { confirmAdd, createRandomFile, dropFile, getTray, sha256, toFilePayload } from "./support/files";
import { expect, test } from "./support/test";

// This is one of the last files, so its tests are spread over the workers.
test.describe.configure({ mode: "parallel" });

async function getStoredAsset(page: Page, desk: Desk, name: string): Promise<{ id: string; tags: string[]; sha256: string }> {
  const list = await page.request.get(`${desk.url}/api/assets`, { params: { name_contains: name, include_public: "false" } });
  const { assets }: { assets: { id: string; tags: string[] }[] } = await list.json();
  expect(assets).toHaveLength(1);
  const [asset] = assets;
  if (!asset) throw new Error(`The asset ${name} is missing.`);
  const content = await page.request.get(`${desk.url}/api/assets/${asset.id}/content`);
  return { ...asset, sha256: sha256(await content.body()) };
}

test("uploads dropped, picked and pasted files and sends stored content only once", async ({ signedIn: page, desk }) => {
  const [dropped, chosen, pasted] = [createRandomFile("dropped.bin"), createRandomFile("chosen.bin"), createRandomFile("pasted.bin")];
  await page.goto(`${desk.url}/jobs`);
  await expect(page.getByRole("heading", { name: "Jobs" })).toBeVisible();
  await dropFile(page.getByRole("main"), dropped);
  await confirmAdd(page);
  await page.getByTestId("asset-files").setInputFiles([toFilePayload(chosen)]);
  await confirmAdd(page);
  await page.evaluate(
    ({ name, base64 }) => {
      const transfer = new DataTransfer();
      transfer.items.add(new File([Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0))], name));
      document.body.dispatchEvent(new ClipboardEvent("paste", { clipboardData: transfer, bubbles: true, cancelable: true }));
    },
    { name: pasted.name, base64: pasted.bytes.toString("base64") },
  );
  await confirmAdd(page);
  await expect(getTray(page).getByText("3 of 3 stored")).toBeVisible();
  await expect(getTray(page).getByText(/stored, 4.3 MB sent · verified/)).toHaveCount(3);
  for (const file of [dropped, chosen, pasted]) expect((await getStoredAsset(page, desk, file.name)).sha256).toBe(sha256(file.bytes));

  const uploadUrls: string[] = [];
  page.on("request", (request) => {
    if (request.method() === "POST" && new URL(request.url()).pathname === "/api/assets") uploadUrls.push(request.url());
  });
  // The tray is still shown on other pages.
  await page.getByRole("link", { name: /^Assets/ }).click();
  await expect(page.getByRole("heading", { name: "Assets" })).toBeVisible();
  await expect(getTray(page).getByText("3 of 3 stored")).toBeVisible();
  // While files are dragged over the page, it shows their destination.
  const dragData = await page.evaluateHandle(() => {
    const transfer = new DataTransfer();
    transfer.items.add(new File(["x"], "hangs.bin"));
    return transfer;
  });
  const dropHint = page.getByText(/or other files to add to /);
  await page.getByRole("main").dispatchEvent("dragenter", { dataTransfer: dragData });
  await expect(dropHint).toBeInViewport({ ratio: 1 });
  await page.getByRole("main").dispatchEvent("dragleave", { dataTransfer: dragData });
  await expect(dropHint).toBeHidden();
  await getTray(page).getByRole("button", { name: "Close" }).click();
  await page.getByTestId("asset-files").setInputFiles([toFilePayload(chosen)]);
  await expect(page.getByRole("dialog", { name: "Add 1 file" })).toBeVisible();
  await confirmAdd(page);
  await expect(getTray(page).getByText("already stored, nothing sent · verified")).toBeVisible();
  await expect(getTray(page).getByText("1 already existed; nothing was sent")).toBeVisible();
  expect(uploadUrls).toEqual([]);
});

test("downloads from a URL through the service and never shows its token", async ({ browser, page, context }) => {
  const bytes = createPattern(3_000_000, 7);
  const source = await startFileSource(bytes, { holdAfter: 1_000_000 });
  const desk = await startDesk({ LIGHTDESK_DOWNLOAD_HOSTS: source.url });
  try {
    await desk.setUp(context.request);
    await desk.signIn(context);
    await page.goto(`${desk.url}/assets`);
    await page.getByRole("button", { name: "Add" }).click();
    await page.getByRole("menuitem", { name: "Download from URL…" }).click();
    await page.getByLabel("URLs, one per line").fill(`${source.url}/film.bin?token=very-secret\nhttps://example.com/elsewhere.bin`);
    const list = page.getByRole("list", { name: "Files at these URLs" });
    await expect(list.getByText("3 MB")).toBeVisible();
    await expect(list.getByText(/The service can't download from this URL/)).toBeVisible();
    await expectAccessible(page);
    await page.getByRole("button", { name: "Download 1 file" }).click();
    await expect(getTray(page).getByText(/in progress · 1 MB of 3 MB/)).toBeVisible();
    await expect(list.getByText("elsewhere.bin")).toBeVisible();

    await page.reload();
    await page.getByRole("button", { name: "Expand" }).click();
    await expect(getTray(page).getByText(/in progress · 1 MB of 3 MB/)).toBeVisible();
    const otherContext = await browser.newContext();
    await desk.signIn(otherContext);
    const secondPage = await otherContext.newPage();
    await secondPage.goto(`${desk.url}/jobs`);
    await secondPage.getByRole("button", { name: "Expand" }).click();
    await expect(getTray(secondPage).getByText("film.bin")).toBeVisible();

    source.behaviour.holdAfter = undefined;
    for (const response of source.pending) response.destroy();
    await expect(getTray(secondPage).getByText("stored", { exact: true })).toBeVisible({ timeout: 60_000 });
    expect((await getStoredAsset(secondPage, desk, "film.bin")).sha256).toBe(sha256(bytes));
    expect(await secondPage.content()).not.toContain("very-secret");
    expect(desk.output()).not.toContain("very-secret");
    await otherContext.close();
  } finally {
    await desk.stop();
    await source.close();
  }
});
