// Whether a service already has some content, asked for files that are hashed first: "no" is no error, but "cannot tell" is one.
import { afterAll, beforeAll, expect, test } from "vitest";
import { createHarness, type Harness } from "@/tests/support/harness";
import { answerJson, startLittleServer } from "@/tests/support/little-server";

let harness: Harness;
beforeAll(async () => {
  harness = await createHarness({ upstreamLimits: { firstRetryMs: 1 } });
});
afterAll(() => harness.dispose());

const unknown = `blake3:${"0".repeat(64)}`;
const ask = (body: object, { connection = "", as = "operator" as "operator" | "viewer" } = {}) =>
  harness.request(`/api/console/known-content${connection && `?connection=${connection}`}`, { as, method: "POST", json: body });

test("content of the service becomes an asset under its new tags, and a hash that nothing has is an answer", async () => {
  const body = new FormData();
  body.set("tags", '["input"]');
  body.set("file", new File(["known"], "known.txt"));
  const sent: { id: string; asset_hash: string } = await (
    await harness.request("/api/assets", { as: "operator", method: "POST", body })
  ).json();
  const known = await ask({ hash: sent.asset_hash, tags: ["again"], name: "other.txt" });
  expect([known.status, await known.json()]).toMatchObject([
    200,
    { asset: { id: sent.id, asset_hash: sent.asset_hash, created_new: false, tags: ["input", "again"] } },
  ]);
  const none = await ask({ hash: unknown, tags: ["input"] });
  expect([none.status, await none.json()]).toEqual([200, { asset: null }]);
});

test("what cannot be meant, a viewer, and a service that takes no hashes or is away are reported as what they are", async () => {
  expect((await ask({ hash: "x", tags: ["input"] })).status).toBe(400);
  expect((await ask({ hash: unknown, tags: ["input"] }, { as: "viewer" })).status).toBe(403);
  const service = await startLittleServer((_, response) => answerJson(response, { code: "NOT_IMPLEMENTED", message: "no" }, 501));
  const lacking = await harness.connect(service.url, "sk-any");
  expect((await ask({ hash: unknown, tags: ["input"] }, { connection: lacking })).status).toBe(501);
  await service.close();
  expect((await ask({ hash: unknown, tags: ["input"] }, { connection: lacking })).status).toBe(502);
});
