import { expectAccessibleInBothThemes } from "./support/accessible";
import { submitJob, waitForState } from "./support/jobs";
import { saveConnection } from "./support/steps";
import { expect, test } from "./support/test";

const grace = { name: "Grace Operator", email: "grace@example.com", password: "another good password" };
const pictureGraph = {
  "1": { class_type: "EmptyImage", inputs: { width: 64, height: 64, batch_size: 1, color: 3368652 } },
  "2": { class_type: "SaveImage", inputs: { images: ["1", 0], filename_prefix: "team" } },
};

test("shows who ran each job, usage by member and jobs on personal connections", async ({ ownDesk: desk, service, page, browser }) => {
  await desk.addOperator(page.request, grace);
  const gracePage = await (await browser.newContext()).newPage();
  await desk.signIn(gracePage.context(), grace);
  const ownConnection = await saveConnection(gracePage, desk, { name: "Grace's cloud", baseUrl: service.url, key: service.key });
  const [sharedJob, ownerJob, graceJob] = [
    await submitJob(gracePage.request, desk, pictureGraph, { connection: (await getConnections(gracePage)).shared }),
    await submitJob(page.request, desk, pictureGraph),
    await submitJob(gracePage.request, desk, pictureGraph, { connection: ownConnection }),
  ];
  await waitForState(page.request, desk, sharedJob, "completed");
  await waitForState(page.request, desk, ownerJob, "completed");

  async function getConnections(memberPage: typeof page) {
    const response = await memberPage.request.get(`${desk.url}/api/console/connections`);
    const { connections }: { connections: { id: string; shared: boolean }[] } = await response.json();
    return { shared: connections.find(({ shared }) => shared)?.id };
  }

  await test.step("filters Jobs by who ran each job", async () => {
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.goto(`${desk.url}/jobs`);
    const row = (id: string) => page.getByRole("row").filter({ hasText: id.slice(0, 8) });
    await expect(row(sharedJob).getByText(grace.name)).toBeVisible();
    await expect(row(ownerJob).getByText("Ada Owner")).toBeVisible();
    await page.getByRole("button", { name: /^Filters/ }).click();
    await page.getByRole("group", { name: "Person" }).getByRole("button").click();
    await page.getByRole("dialog", { name: "Filter by person" }).getByRole("button", { name: grace.name }).click();
    await expect(row(ownerJob)).toHaveCount(0);
    await expect(row(sharedJob)).toBeVisible();
  });

  await test.step("shows the same usage on the page and in the export, without connection names", async () => {
    await waitForState(gracePage.request, desk, graceJob, "completed", ownConnection);
    await expect(async () => {
      await page.goto(`${desk.url}/settings/usage`);
      await expect(page.getByRole("row", { name: /^Ada Owner .* 1 0 / })).toBeVisible({ timeout: 2_000 });
      await expect(page.getByRole("row", { name: /^Grace Operator Personal connection 1 0 / })).toBeVisible({ timeout: 2_000 });
    }).toPass({ timeout: 30_000 });
    await expect(page.getByRole("row", { name: /^Grace Operator, total 2 / })).toBeVisible();
    const table = page.getByRole("region", { name: "Usage by member and connection" });
    const shownRows = await table
      .locator("tbody tr")
      .filter({ has: page.locator("td:nth-of-type(2)") })
      .evaluateAll((rows) =>
        rows.flatMap((row) => {
          const cells = [...row.children].map((cell) => (cell instanceof HTMLElement ? cell.innerText.trim() : ""));
          return cells[0] ? [`${cells[0]}, ${cells[1]?.toLowerCase()}, ${cells[2]}, ${cells[3]}`] : [];
        }),
      );
    const [head = "", ...lines] = (await (await page.request.get(`${desk.url}/api/console/usage/export`)).text()).trim().split("\r\n");
    const columns = head.split(",");
    const exportedRows = lines.map((line) => {
      const cell = (name: string) => line.split(",")[columns.indexOf(name)] ?? "";
      return `${cell("member")}, ${cell("connection").toLowerCase()}, ${cell("runs")}, ${cell("failed")}`;
    });
    expect(shownRows).toEqual(exportedRows);
    expect(exportedRows).toHaveLength(3);
    await expectAccessibleInBothThemes(page);
    await page.getByRole("combobox", { name: "Time" }).selectOption({ label: "Last 7 days" });
    await expect(page).toHaveURL(/within=168/);
    await page.setViewportSize({ width: 390, height: 844 });
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
    await page.setViewportSize({ width: 1440, height: 900 });
    await gracePage.goto(`${desk.url}/settings/usage`);
    await expect(gracePage.getByText("Jobs that you submitted through Lightdesk.")).toBeVisible();
    await expect(gracePage.getByRole("cell", { name: "Grace's cloud" })).toBeVisible();
    await expect(gracePage.getByText("Ada Owner")).toHaveCount(0);
  });

  await test.step("grants the owner access to a member's jobs and informs the member", async () => {
    await page.goto(`${desk.url}/settings`);
    const card = page.getByRole("region", { name: "Members' connections" });
    await expect(card.getByText(`Personal connection of ${grace.name}`)).toBeVisible();
    await expect(page.getByText("Grace's cloud")).toHaveCount(0);
    await card.getByRole("button", { name: `Manage access: ${grace.name}` }).click();
    const dialog = page.getByRole("dialog", { name: `Access to ${grace.name}'s jobs` });
    await expect(dialog.getByText("but can't change anything")).toBeVisible();
    await expectAccessibleInBothThemes(page);
    await dialog.getByRole("checkbox", { name: /Ada Owner/ }).check();
    await dialog.getByRole("button", { name: "Save" }).click();
    await expect(page.getByText(`${grace.name}; you can only view its jobs`)).toBeVisible();
    await gracePage.goto(`${desk.url}/settings`);
    await expect(gracePage.getByText("read-only, granted by Ada Owner")).toBeVisible();
  });

  await test.step("shows a member's jobs and pictures read-only", async () => {
    await page.goto(`${desk.url}/jobs/${graceJob}?connection=${ownConnection}`);
    await expect(page.getByText(`read-only · ${grace.name}`).filter({ visible: true }).first()).toBeVisible();
    await expect(page.getByText("Completed").first()).toBeVisible();
    await expect
      .poll(() =>
        page
          .locator('img[src*="/api/"]')
          .evaluateAll((all) => all.filter((img) => img instanceof HTMLImageElement && img.naturalWidth > 0).length),
      )
      .toBeGreaterThan(0);
    for (const name of ["Run again", "Edit & run", "Save to files"]) await expect(page.getByRole("button", { name })).toHaveCount(0);
    await expect(page.getByRole("link", { name: "Assets" })).toHaveCount(0);
    await page.goto(`${desk.url}/assets?connection=${ownConnection}`);
    await expect(page.getByText("You can only see the jobs of Grace's cloud")).toBeVisible();
  });

  await test.step("revokes the granted access immediately", async () => {
    await gracePage.getByRole("button", { name: "Stop showing jobs to Ada Owner" }).click();
    await expect(gracePage.getByText("read-only, granted by Ada Owner")).toHaveCount(0);
    await page.goto(`${desk.url}/jobs?connection=${ownConnection}`);
    await expect(page.getByText("You have no access to this connection")).toBeVisible();
  });
  await gracePage.context().close();
});
