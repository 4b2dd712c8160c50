import { type Page } from "@playwright/test";
import { type Desk } from "./support/desk";
import { drop, sample, workflow } from "./support/files";
import { expect, test } from "./support/test";

const refused = [
  { what: "a file that is no JSON", file: workflow("notes.json", "not { json"), says: "This is not valid JSON. The error is at line 1" },
  { what: "JSON that is no graph", file: workflow("list.json", ["a"]), says: "This is JSON, but not a workflow" },
  {
    what: "a file of the editor in which nothing runs",
    file: workflow("editor.json", { nodes: [{ id: 1 }], links: [] }),
    says: "No node in this file would run",
  },
];

for (const { what, file, says } of refused) {
  test(`${what} is refused with the reason, and what was open stays`, async ({ signedIn: page, desk }) => {
    await openRun(page, desk);
    await drop(page.getByText("Drop a workflow file here"), sample("01-invert"));
    await expect(page.getByRole("heading", { name: "01-invert" })).toBeVisible();
    await drop(page.getByRole("heading", { name: "01-invert" }), file);
    await expect(
      page
        .getByText(`${file.name.replace(/\.json$/, "")}`)
        .and(page.getByText("was not opened"))
        .first(),
    ).toBeVisible();
    await expect(page.getByText(says)).toBeVisible();
    await expect(page.getByRole("heading", { name: "01-invert" })).toBeVisible();
  });
}

test("node errors of the service stand on their nodes, and nothing was started", async ({ signedIn: page, desk }) => {
  const before = await jobCount(page, desk);
  await openRun(page, desk);
  await drop(page.getByText("Drop a workflow file here"), sample("07-bad-graph"));
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await expect(page.getByText(/nodes need a fix/)).toBeVisible();
  for (const id of ["1", "2", "4"])
    await expect(
      page
        .locator("section[data-problem]")
        .filter({ hasText: `#${id}` })
        .first(),
    ).toBeVisible();
  expect(await jobCount(page, desk)).toBe(before);
});

test("an image that is none is refused, and the picture before it stays", async ({ signedIn: page, desk }) => {
  await openRun(page, desk);
  await drop(page.getByText("Drop a workflow file here"), sample("02-poster-from-photo"));
  const picture = page.getByRole("img", { name: "Picture of Photo" });
  await drop(picture, { name: "fake.png", type: "image/png", bytes: Buffer.from("this is text, not a picture") });
  await expect(page.getByText("fake.png cannot be read as a picture")).toBeVisible();
  await expect(page.getByLabel("Picture name")).toHaveValue("photo.png");
  await expect(picture).toBeVisible();
});

async function openRun(page: Page, desk: Desk): Promise<void> {
  await page.goto(`${desk.url}/run`);
  await expect(page.getByText("Drop a workflow file here")).toBeVisible();
}

async function jobCount(page: Page, desk: Desk): Promise<number> {
  const { pagination }: { pagination: { total: number } } = await (await page.request.get(`${desk.url}/api/jobs?limit=1`)).json();
  return pagination.total;
}
