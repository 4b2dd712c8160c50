// A console whose built-in service stores files in a bucket.
import { expect, test } from "vitest";
import { createHarness } from "@/tests/support/harness";
import { startStrictS3 } from "@/tests/support/servers";
import { testKeys } from "@/tests/support/strict-s3";

test("reads its own bucket with its own key instead of redirecting", async () => {
  const s3 = await startStrictS3();
  const harness = await createHarness({
    settings: {
      LIGHTDESK_BLOBS: s3.address("here"),
      LIGHTDESK_S3_ACCESS_KEY_ID: testKeys.accessKeyId,
      LIGHTDESK_S3_SECRET_ACCESS_KEY: testKeys.secretAccessKey,
      LIGHTDESK_BLOBS_PRESIGNED_SECONDS: "60",
    },
  });
  const body = new FormData();
  body.append("file", new Blob(["the bytes"]), "a.txt");
  const { id } = await (await harness.request("/api/assets", { as: "operator", method: "POST", body })).json();
  s3.headers.length = 0;
  const content = await harness.request(`/api/assets/${id}/content`, { as: "viewer" });
  expect([content.status, await content.text()]).toEqual([200, "the bytes"]);
  expect(s3.headers.map(({ headers }) => headers.authorization?.split(" ")[0])).toEqual(["AWS4-HMAC-SHA256"]);
});
