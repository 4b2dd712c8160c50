// A connection's account URL: a change that does not name it keeps it, an empty one removes it.
import { afterAll, beforeAll, expect, test } from "vitest";
import { createHarness, type Harness } from "@/tests/support/harness";

let harness: Harness;
beforeAll(async () => {
  harness = await createHarness({ upstreamLimits: { readMs: 500, firstRetryMs: 1 } });
});
afterAll(() => harness.dispose());

const nowhere = "http://127.0.0.1:9";
const send = async (method: "POST" | "PUT", path: string, json: object) => {
  const answer = await harness.request(`/api/console/connections${path}`, { as: "operator", method, json });
  return { status: answer.status, body: await answer.json() };
};

test("an account URL stays through a change of the name, and is gone after an empty one", async () => {
  const { body } = await send("POST", "", { name: "Cloud", keep: true, baseUrl: nowhere, accountUrl: "https://account.example" });
  const path = `/${body.connection.id}`;
  expect((await send("PUT", path, { name: "Renamed" })).body.connection.accountUrl).toBe("https://account.example");
  expect((await send("PUT", path, { accountUrl: "" })).body.connection).not.toHaveProperty("accountUrl");
  const { body: list } = await readList();
  expect(list.connections.find(({ id }: { id: string }) => id === body.connection.id)).not.toHaveProperty("accountUrl");
});

test("an empty account URL of a new connection is none, and a wrong one is refused by its name", async () => {
  const made = await send("POST", "", { name: "Cloud", keep: true, baseUrl: nowhere, accountUrl: "" });
  expect(made.status).toBe(201);
  expect(made.body.connection).not.toHaveProperty("accountUrl");
  const refused = await send("POST", "", { name: "Cloud", keep: true, baseUrl: nowhere, accountUrl: "account.example" });
  expect([refused.status, refused.body.details[0].path]).toEqual([400, "accountUrl"]);
  expect(refused.body.message).toContain("http://");
});

async function readList() {
  const answer = await harness.request("/api/console/connections", { as: "operator" });
  return { body: await answer.json() };
}
