// Saved views through the console's API: owners, permissions, and default views.
import { expect, test, vi } from "vitest";
import { getViewQuery, parseListQuery } from "@/components/jobs/list/list-urls";
import { type SavedView } from "@/lib/contract/console";
import { type Role } from "@/lib/contract/members/roles";
import { getDefaultView } from "@/lib/server/queries/saved-views";
import { createHarness } from "@/tests/support/harness";

const harness = await createHarness();

async function createView(as: Role, json: object): Promise<{ status: number; view: SavedView }> {
  const response = await harness.request("/api/console/views", { method: "POST", as, json });
  const body: { view: SavedView } = await response.json();
  return { status: response.status, view: body.view };
}
const sendView = (as: Role, method: "PUT" | "DELETE", id: string, json?: object) =>
  harness.request(`/api/console/views/${id}`, { method, as, json: json ?? {} });
async function listViewNames(as: Role): Promise<string[]> {
  const { views }: { views: SavedView[] } = await (await harness.request("/api/console/views", { as })).json();
  return views.map(({ name }) => name);
}

test("keeps a viewer's views private and limits them to list parameters", async () => {
  const { status, view } = await createView("viewer", { name: " Mine ", query: "status=failed&offset=300&connection=c&job=j&limit=50" });
  expect(status).toBe(201);
  expect(view).toMatchObject({ name: "Mine", query: "status=failed&limit=50", team: false, isDefault: false, canChange: true });
  expect(await listViewNames("viewer")).toContain("Mine");
  expect(await listViewNames("owner")).not.toContain("Mine");
  for (const method of ["PUT", "DELETE"] as const) expect((await sendView("owner", method, view.id)).status).toBe(404);
});

test("lets operators edit team views that anybody can use as default", async () => {
  expect((await createView("viewer", { name: "No", query: "", team: true })).status).toBe(403);
  const { view } = await createView("operator", { name: "Failures", query: "status=failed", team: true });
  expect(await listViewNames("viewer")).toContain("Failures");
  expect((await sendView("viewer", "PUT", view.id, { name: "Other" })).status).toBe(403);
  expect((await sendView("viewer", "DELETE", view.id)).status).toBe(403);
  expect((await sendView("viewer", "PUT", view.id, { isDefault: true })).status).toBe(200);
  expect(await getDefaultView(harness.getContext("viewer"), "jobs")).toMatchObject({ query: "status=failed" });
  expect(await getDefaultView(harness.getContext("operator"), "jobs")).toBeUndefined();
  expect((await sendView("admin", "PUT", view.id, { query: "status=failed,cancelled" })).status).toBe(200);
  expect(await getDefaultView(harness.getContext("viewer"), "jobs")).toMatchObject({ query: "status=failed%2Ccancelled" });
});

test("clears the default when its view is deleted", async () => {
  const first = await createView("admin", { name: "First", query: "limit=25", isDefault: true });
  const second = await createView("admin", { name: "Second", query: "limit=50", isDefault: true });
  const context = harness.getContext("admin");
  expect(await getDefaultView(context, "jobs")).toMatchObject({ query: "limit=50" });
  await sendView("admin", "PUT", first.view.id, { isDefault: false });
  expect(await getDefaultView(context, "jobs")).toMatchObject({ query: "limit=50" });
  await sendView("admin", "DELETE", second.view.id);
  expect(await getDefaultView(context, "jobs")).toBeUndefined();
});

test("keeps separate views and defaults for each list", async () => {
  const query = "include_tags=output&status=failed&layers=shown&size=large&offset=4000&asset=a";
  const { view } = await createView("owner", { screen: "assets", name: "Outputs", query, isDefault: true });
  expect(view).toMatchObject({ query: "include_tags=output&layers=shown&size=large", isDefault: true });
  await createView("owner", { name: "Jobs of mine", query: "limit=25" });
  const historyQuery = "status=failed&max_items=20&limit=9&inputs=input:*KSampler:seed";
  const history = await createView("owner", { screen: "history", name: "Failed", query: historyQuery });
  expect(new URLSearchParams(history.view.query).toString()).toBe("status=failed&max_items=20&inputs=input%3A*KSampler%3Aseed");
  expect(await listViewNames("owner")).not.toContain("Outputs");
  const response = await harness.request("/api/console/views?screen=assets", { as: "owner" });
  expect(await response.json()).toMatchObject({ views: [{ name: "Outputs" }] });
  expect((await harness.request("/api/console/views?screen=unknown", { as: "owner" })).status).toBe(400);
  const context = harness.getContext("owner");
  expect(await getDefaultView(context, "assets")).toMatchObject({ query: "include_tags=output&layers=shown&size=large" });
  expect(await getDefaultView(context, "jobs")).toBeUndefined();
});

test.each(["jobs", "history"] as const)("restores every %s filter from a saved view", async (list) => {
  const filters = { status: "failed,cancelled", workflow_id: "w", output_type: "image", text: "sea", member: "m", within: "24" };
  const otherParams: Record<string, string> =
    list === "jobs" ? { sort_by: "execution_time", sort_order: "asc", limit: "25" } : { max_items: "25" };
  const { query, ignored } = parseListQuery(list, new URLSearchParams({ ...filters, ...otherParams, offset: "50" }));
  const { view } = await createView("admin", { screen: list, name: "Filtered", query: getViewQuery(list, query, []) });
  expect(parseListQuery(list, new URLSearchParams(view.query)).query).toEqual({ ...query, offset: 0 });
  expect([query, ignored]).toMatchObject([{ status: ["failed", "cancelled"], workflow_id: "w", member: "m", within: 24, limit: 25 }, []]);
});

test("limits a member's views and the team's views separately", async () => {
  const { create } = harness.console.store.savedViews;
  const createViews = async (memberId: string | undefined, count: number) => {
    for (let index = 0; index < count; index += 1) await create({ memberId, screen: "history", name: `${index}`, query: "", createdAt: 1 });
  };
  const addView = async (team: boolean) => (await createView("operator", { screen: "history", name: "One more", query: "", team })).status;
  await createViews(undefined, 99);
  expect([await addView(true), await addView(true), await addView(false)]).toEqual([201, 400, 201]);
  await createViews(harness.getViewer("operator").memberId, 98);
  expect([await addView(false), await addView(false)]).toEqual([201, 400]);
});

test.each([{ name: "", query: "" }, { name: "x".repeat(81), query: "" }, { name: "x", query: "y".repeat(2001) }, { name: "x" }])(
  "rejects %j",
  async (json) => {
    expect((await createView("owner", json)).status).toBe(400);
  },
);

test.each(["SQLITE_CONSTRAINT_UNIQUE", "23505"])("returns 409 when another request stored the key first (%s)", async (code) => {
  const write = vi.spyOn(harness.console.store.savedViews, "create");
  write.mockRejectedValue(Object.assign(new Error("unique constraint failed"), { code }));
  const response = await harness.request("/api/console/views", { method: "POST", as: "owner", json: { name: "Twice", query: "" } });
  write.mockRestore();
  expect([response.status, await response.json()]).toEqual([409, expect.objectContaining({ code: "CONFLICT" })]);
});
