import { expectAccessibleInBothThemes } from "./support/accessible";
import { keepConnection } from "./support/connections";
import { submit, untilState } from "./support/jobs";
import { expect, test } from "./support/test";

const grace = { name: "Grace Operator", email: "grace@example.com", password: "another good password" };
const picture = {
  "1": { class_type: "EmptyImage", inputs: { width: 64, height: 64, batch_size: 1, color: 3368652 } },
  "2": { class_type: "SaveImage", inputs: { images: ["1", 0], filename_prefix: "hers" } },
};

test("shows who ran a job, usage by member and jobs on shared own connections", async ({ ownDesk: desk, service, page, browser }) => {
  await desk.addOperator(page.request, grace);
  const hers = await (await browser.newContext()).newPage();
  await desk.signIn(hers.context(), grace);
  const ownConnection = await keepConnection(hers, desk, { name: "Grace's cloud", baseUrl: service.url, key: service.key });
  const [ofTeam, ofOwner, ofHers] = [
    await submit(hers.request, desk, picture, { connection: (await getConnections(hers)).shared }),
    await submit(page.request, desk, picture),
    await submit(hers.request, desk, picture, { connection: ownConnection }),
  ];
  await untilState(page.request, desk, ofTeam, "completed");
  await untilState(page.request, desk, ofOwner, "completed");

  async function getConnections(of: typeof page) {
    const response = await of.request.get(`${desk.url}/api/console/connections`);
    const { connections }: { connections: { id: string; shared: boolean }[] } = await response.json();
    return { shared: connections.find(({ shared }) => shared)?.id };
  }

  await test.step("filters Jobs by who ran each job", async () => {
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.goto(`${desk.url}/jobs`);
    const row = (id: string) => page.getByRole("row").filter({ hasText: id.slice(0, 8) });
    await expect(row(ofTeam).getByText(grace.name)).toBeVisible();
    await expect(row(ofOwner).getByText("Ada Owner")).toBeVisible();
    await page.getByRole("button", { name: /^Filters/ }).click();
    await page.getByRole("group", { name: "Person" }).getByRole("button").click();
    await page.getByRole("dialog", { name: "Filter by person" }).getByRole("button", { name: grace.name }).click();
    await expect(row(ofOwner)).toHaveCount(0);
    await expect(row(ofTeam)).toBeVisible();
    await page.goto(`${desk.url}/history`);
    await expect(row(ofTeam).getByText(grace.name)).toBeVisible();
  });

  await test.step("shows the same usage on the page and in the file, with own connections unnamed", async () => {
    await untilState(hers.request, desk, ofHers, "completed", ownConnection);
    await expect(async () => {
      await page.goto(`${desk.url}/settings/usage`);
      await expect(page.getByRole("row", { name: /^Ada Owner .* 1 0 / })).toBeVisible({ timeout: 2_000 });
      await expect(page.getByRole("row", { name: /^Grace Operator Personal connection 1 0 / })).toBeVisible({ timeout: 2_000 });
    }).toPass({ timeout: 30_000 });
    await expect(page.getByRole("row", { name: /^Grace Operator, total 2 / })).toBeVisible();
    const table = page.getByRole("region", { name: "Usage by member and connection" });
    const onScreen = await table
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
    const inFile = lines.map((line) => {
      const cell = (name: string) => line.split(",")[columns.indexOf(name)] ?? "";
      return `${cell("member")}, ${cell("connection").toLowerCase()}, ${cell("runs")}, ${cell("failed")}`;
    });
    expect(onScreen).toEqual(inFile);
    expect(inFile).toHaveLength(3);
    await expectAccessibleInBothThemes(page);
    await page.getByRole("combobox", { name: "Time" }).selectOption({ label: "Last 7 days" });
    await expect(page).toHaveURL(/within=168/);
    await page.setViewportSize({ width: 390, height: 844 });
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
    await page.setViewportSize({ width: 1440, height: 900 });
    await hers.goto(`${desk.url}/settings/usage`);
    await expect(hers.getByText("Jobs that you submitted through Lightdesk.")).toBeVisible();
    await expect(hers.getByRole("cell", { name: "Grace's cloud" })).toBeVisible();
    await expect(hers.getByText("Ada Owner")).toHaveCount(0);
  });

  await test.step("grants the owner access to a member's jobs and informs the member", async () => {
    await page.goto(`${desk.url}/settings`);
    const card = page.getByRole("region", { name: "Connections of members" });
    await expect(card.getByText(`Personal connection of ${grace.name}`)).toBeVisible();
    await expect(page.getByText("Grace's cloud")).toHaveCount(0);
    await card.getByRole("button", { name: `Manage access: ${grace.name}` }).click();
    const dialog = page.getByRole("dialog", { name: `Access to the jobs of ${grace.name}` });
    await expect(dialog.getByText("but change nothing")).toBeVisible();
    await expectAccessibleInBothThemes(page);
    await dialog.getByRole("checkbox", { name: /Ada Owner/ }).check();
    await dialog.getByRole("button", { name: "Save" }).click();
    await expect(page.getByText(`${grace.name}; you see its jobs, read-only`)).toBeVisible();
    await hers.goto(`${desk.url}/settings`);
    await expect(hers.getByText("read-only, granted by Ada Owner")).toBeVisible();
    await expectAccessibleInBothThemes(hers);
  });

  await test.step("shows a member's jobs and pictures read-only", async () => {
    await page.goto(`${desk.url}/jobs/${ofHers}?connection=${ownConnection}`);
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
    await hers.getByRole("button", { name: "Stop showing jobs to Ada Owner" }).click();
    await expect(hers.getByText("read-only, granted by Ada Owner")).toHaveCount(0);
    await page.goto(`${desk.url}/jobs?connection=${ownConnection}`);
    await expect(page.getByText("You have no access to this connection")).toBeVisible();
  });
  await hers.context().close();
});
