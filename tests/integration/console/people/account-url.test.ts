// A connection's account URL: a change without it keeps it, an empty one removes it.
import { expect, test } from "vitest";
import { createHarness } from "@/tests/support/harness";

const harness = await createHarness({ upstreamLimits: { readMs: 500, firstRetryMs: 1 } });

const UNREACHABLE_URL = "http://127.0.0.1:9";
const send = async (method: "POST" | "PUT", path: string, json: object) => {
  const response = await harness.request(`/api/console/connections${path}`, { as: "operator", method, json });
  return { status: response.status, body: await response.json() };
};

test("keeps an account URL through a rename and removes it when set to empty", async () => {
  const { body } = await send("POST", "", { name: "Cloud", keep: true, baseUrl: UNREACHABLE_URL, accountUrl: "https://account.example" });
  const path = `/${body.connection.id}`;
  expect((await send("PUT", path, { name: "Renamed" })).body.connection.accountUrl).toBe("https://account.example");
  expect((await send("PUT", path, { accountUrl: "" })).body.connection).not.toHaveProperty("accountUrl");
  const { body: list } = await readList();
  expect(list.connections.find(({ id }: { id: string }) => id === body.connection.id)).not.toHaveProperty("accountUrl");
});

test("treats an empty account URL as none and names an invalid one", async () => {
  const response = await send("POST", "", { name: "Cloud", keep: true, baseUrl: UNREACHABLE_URL, accountUrl: "" });
  expect(response.status).toBe(201);
  expect(response.body.connection).not.toHaveProperty("accountUrl");
  const refusal = await send("POST", "", { name: "Cloud", keep: true, baseUrl: UNREACHABLE_URL, accountUrl: "account.example" });
  expect([refusal.status, refusal.body.details[0].path]).toEqual([400, "accountUrl"]);
  expect(refusal.body.message).toContain("http://");
});

async function readList() {
  const response = await harness.request("/api/console/connections", { as: "operator" });
  return { body: await response.json() };
}
