// Saved views through the console's own API: their owners, who may change them, and which one a list opens with.
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { type SavedView } from "@/lib/contract/console";
import { type Role } from "@/lib/contract/people/roles";
import { defaultView } from "@/lib/server/queries/saved-views";
import { createHarness, type Harness } from "@/tests/support/harness";

let harness: Harness;
beforeAll(async () => {
  harness = await createHarness();
});
afterAll(() => harness.dispose());

async function create(as: Role, json: object): Promise<{ status: number; view: SavedView }> {
  const answer = await harness.request("/api/console/views", { method: "POST", as, json });
  const body: { view: SavedView } = await answer.json();
  return { status: answer.status, view: body.view };
}
const one = (as: Role, method: "PUT" | "DELETE", id: string, json?: object) =>
  harness.request(`/api/console/views/${id}`, { method, as, json: json ?? {} });
async function names(as: Role): Promise<string[]> {
  const { views }: { views: SavedView[] } = await (await harness.request("/api/console/views", { as })).json();
  return views.map(({ name }) => name);
}

test("a viewer keeps views that nobody else sees, and holds only what makes a list", async () => {
  const { status, view } = await create("viewer", { name: " Mine ", query: "status=failed&offset=300&connection=c&job=j&limit=50" });
  expect(status).toBe(201);
  expect(view).toMatchObject({ name: "Mine", query: "status=failed&limit=50", team: false, isDefault: false, canChange: true });
  expect(await names("viewer")).toContain("Mine");
  expect(await names("owner")).not.toContain("Mine");
  for (const method of ["PUT", "DELETE"] as const) expect((await one("owner", method, view.id)).status).toBe(404);
});

test("a view of the team is made and changed by operators, seen by everybody, and anybody's default", async () => {
  expect((await create("viewer", { name: "No", query: "", team: true })).status).toBe(403);
  const { view } = await create("operator", { name: "Failures", query: "status=failed", team: true });
  expect(await names("viewer")).toContain("Failures");
  expect((await one("viewer", "PUT", view.id, { name: "Other" })).status).toBe(403);
  expect((await one("viewer", "DELETE", view.id)).status).toBe(403);
  expect((await one("viewer", "PUT", view.id, { isDefault: true })).status).toBe(200);
  expect(await defaultView(harness.contextOf("viewer"), "jobs")).toMatchObject({ query: "status=failed" });
  expect(await defaultView(harness.contextOf("operator"), "jobs")).toBeUndefined();
  expect((await one("admin", "PUT", view.id, { query: "status=failed,cancelled" })).status).toBe(200);
  expect(await defaultView(harness.contextOf("viewer"), "jobs")).toMatchObject({ query: "status=failed%2Ccancelled" });
});

test("there is one default, it can be let go of, and it ends with its view", async () => {
  const first = await create("admin", { name: "First", query: "limit=25", isDefault: true });
  const second = await create("admin", { name: "Second", query: "limit=50", isDefault: true });
  const context = harness.contextOf("admin");
  expect(await defaultView(context, "jobs")).toMatchObject({ query: "limit=50" });
  await one("admin", "PUT", first.view.id, { isDefault: false });
  expect(await defaultView(context, "jobs")).toMatchObject({ query: "limit=50" });
  await one("admin", "DELETE", second.view.id);
  expect(await defaultView(context, "jobs")).toBeUndefined();
});

test("each list has views and a default of its own, with the parameters that make that list", async () => {
  const query = "include_tags=output&status=failed&layers=shown&size=large&offset=4000&asset=a";
  const { view } = await create("owner", { screen: "assets", name: "Outputs", query, isDefault: true });
  expect(view).toMatchObject({ query: "include_tags=output&layers=shown&size=large", isDefault: true });
  await create("owner", { name: "Jobs of mine", query: "limit=25" });
  expect(await names("owner")).not.toContain("Outputs");
  const answer = await harness.request("/api/console/views?screen=assets", { as: "owner" });
  expect(await answer.json()).toMatchObject({ views: [{ name: "Outputs" }] });
  expect((await harness.request("/api/console/views?screen=dreams", { as: "owner" })).status).toBe(400);
  const context = harness.contextOf("owner");
  expect(await defaultView(context, "assets")).toMatchObject({
    query: "include_tags=output&layers=shown&size=large",
  });
  expect(await defaultView(context, "jobs")).toBeUndefined();
});

test.each([{ name: "", query: "" }, { name: "x".repeat(81), query: "" }, { name: "x", query: "y".repeat(2001) }, { name: "x" }])(
  "%j is refused",
  async (json) => {
    expect((await create("owner", json)).status).toBe(400);
  },
);

test.each(["SQLITE_CONSTRAINT_UNIQUE", "23505"])("a key that was stored a moment before is a conflict (%s)", async (code) => {
  const write = vi.spyOn(harness.console.store.savedViews, "create");
  write.mockRejectedValue(Object.assign(new Error("as the driver says it"), { code }));
  const answer = await harness.request("/api/console/views", { method: "POST", as: "owner", json: { name: "Twice", query: "" } });
  write.mockRestore();
  expect([answer.status, await answer.json()]).toEqual([409, expect.objectContaining({ code: "CONFLICT" })]);
});
