// Limits on the memory and time that clients without a session can use.
import { expect, test } from "vitest";
import { createHarness } from "@/tests/support/harness";

const harness = await createHarness({ settings: { LIGHTDESK_REQUEST_TIMEOUT_SECONDS: "1" } });

const publicPaths = [
  "/api/console/set-up",
  "/api/console/members/invitations/accept",
  "/api/auth/callback/credentials",
  "/api/auth/signout",
];

/** Creates an endless body that counts the bytes read. */
function createEndlessBody(chunk: Uint8Array | undefined) {
  let readByteCount = 0;
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (chunk === undefined) return new Promise<void>(() => undefined);
      readByteCount += chunk.byteLength;
      controller.enqueue(chunk);
    },
  });
  return { body, getReadByteCount: () => readByteCount };
}

const post = (path: string, body: BodyInit, type = "application/json") =>
  harness.request(path, { method: "POST", body, headers: { "content-type": type } });

test.each(publicPaths)("rejects an endless body to %s early", async (path) => {
  for (const type of ["application/json", "application/x-www-form-urlencoded"]) {
    const { body, getReadByteCount } = createEndlessBody(new Uint8Array(16 * 1024).fill(97));
    const response = await post(path, body, type);
    expect([response.status, (await response.json()).code]).toEqual([413, "FILE_TOO_LARGE"]);
    expect(getReadByteCount()).toBeLessThan(256 * 1024);
  }
});

test.each(publicPaths)("times out a missing body to %s", async (path) => {
  const response = await post(path, createEndlessBody(undefined).body);
  expect([response.status, (await response.json()).code]).toEqual([408, "REQUEST_TIMEOUT"]);
});

test("times out a member's missing body", async () => {
  const response = await harness.request("/api/queue", { as: "operator", method: "POST", body: createEndlessBody(undefined).body });
  expect([response.status, (await response.json()).code]).toEqual([408, "REQUEST_TIMEOUT"]);
});

test.each(["nonsense", "[]", "null", '{"email":{"a":1},"password":["x"]}', '{"csrfToken":7}'])(
  "returns 400 for a body that next-auth can't read: %s",
  async (body) => {
    const response = await post("/api/auth/callback/credentials", body);
    expect([response.status, (await response.json()).code]).toEqual([400, body === "nonsense" ? "INVALID_JSON" : "INVALID_BODY"]);
    expect(harness.getLog()).not.toContain('"level":50');
  },
);
