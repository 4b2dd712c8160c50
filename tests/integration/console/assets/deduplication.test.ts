// Whether a service already has some content, by hash: "no" is no error, but "unknown" is one.
import { expect, test } from "vitest";
import { createHarness } from "@/tests/support/harness";
import { openTestServer } from "@/tests/support/servers";
import { sendJsonResponse } from "@/tests/support/test-server";

const harness = await createHarness({ upstreamLimits: { firstRetryMs: 1 } });

const unknown = `blake3:${"0".repeat(64)}`;
const createFromHash = (body: object, { connection = "", as = "operator" as "operator" | "viewer" } = {}) =>
  harness.request(`/api/console/known-content${connection && `?connection=${connection}`}`, { as, method: "POST", json: body });

test("creates an asset from known content and returns 404 for an unknown hash", async () => {
  const body = new FormData();
  body.set("tags", '["input"]');
  body.set("file", new File(["known"], "known.txt"));
  const upload: { id: string; asset_hash: string } = await (
    await harness.request("/api/assets", { as: "operator", method: "POST", body })
  ).json();
  const response = await createFromHash({ hash: upload.asset_hash, tags: ["again"], name: "other.txt" });
  expect([response.status, await response.json()]).toMatchObject([
    200,
    { asset: { id: upload.id, asset_hash: upload.asset_hash, created_new: false, tags: ["input", "again"] } },
  ]);
  const none = await createFromHash({ hash: unknown, tags: ["input"] });
  expect([none.status, await none.json()]).toEqual([200, { asset: null }]);
});

test("reports invalid offers, viewers and missing or absent hash support", async () => {
  expect((await createFromHash({ hash: "x", tags: ["input"] })).status).toBe(400);
  expect((await createFromHash({ hash: unknown, tags: ["input"] }, { as: "viewer" })).status).toBe(403);
  const service = await openTestServer((_, response) => sendJsonResponse(response, { code: "NOT_IMPLEMENTED", message: "no" }, 501));
  const lacking = await harness.connect(service.url, "sk-any");
  expect((await createFromHash({ hash: unknown, tags: ["input"] }, { connection: lacking })).status).toBe(501);
  await service.close();
  expect((await createFromHash({ hash: unknown, tags: ["input"] }, { connection: lacking })).status).toBe(502);
});
