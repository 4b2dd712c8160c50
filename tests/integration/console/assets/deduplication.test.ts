// Looks up content on a service by hash. Missing content isn't an error, but a failed lookup is.
import { expect, test } from "vitest";
import { createHarness } from "@/tests/support/harness";
import { openTestServer } from "@/tests/support/servers";
import { sendJsonResponse } from "@/tests/support/test-server";

const harness = await createHarness({ upstreamLimits: { firstRetryMs: 1 } });

const UNKNOWN_HASH = `blake3:${"0".repeat(64)}`;
const createFromHash = (body: object, { connection = "", as = "operator" as "operator" | "viewer" } = {}) =>
  harness.request(`/api/console/known-content${connection && `?connection=${connection}`}`, { as, method: "POST", json: body });

test("creates an asset from stored content and returns null for an unknown hash", async () => {
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
  const nullResponse = await createFromHash({ hash: UNKNOWN_HASH, tags: ["input"] });
  expect([nullResponse.status, await nullResponse.json()]).toEqual([200, { asset: null }]);
});

test("rejects invalid hashes and viewers, and reports services without hash lookup", async () => {
  expect((await createFromHash({ hash: "x", tags: ["input"] })).status).toBe(400);
  expect((await createFromHash({ hash: UNKNOWN_HASH, tags: ["input"] }, { as: "viewer" })).status).toBe(403);
  const service = await openTestServer((_, response) => sendJsonResponse(response, { code: "NOT_IMPLEMENTED", message: "no" }, 501));
  const connectionWithoutHashes = await harness.connect(service.url, "sk-any");
  expect((await createFromHash({ hash: UNKNOWN_HASH, tags: ["input"] }, { connection: connectionWithoutHashes })).status).toBe(501);
  await service.close();
  expect((await createFromHash({ hash: UNKNOWN_HASH, tags: ["input"] }, { connection: connectionWithoutHashes })).status).toBe(502);
});
