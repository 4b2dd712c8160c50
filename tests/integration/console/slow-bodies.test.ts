// Limits on the memory and time that clients without a session can use.
import { IncomingMessage } from "node:http";
import { Socket } from "node:net";
import { expect, test } from "vitest";
import { canSeeReasons } from "@/lib/server/bff/authorize-subscription";
import { startComposition } from "@/lib/server/composition";
import { readEnv } from "@/lib/server/env";
import { createHarness } from "@/tests/support/harness";
import { createTemporaryFolder } from "@/tests/support/temporary-folder";

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

test("times out missing bodies of members and clients without a session", async () => {
  const headers = { "content-type": "application/json" };
  const sendNothing = async (path: string, as?: "operator") => {
    const response = await harness.request(path, { as, method: "POST", body: createEndlessBody(undefined).body, headers });
    return [path, response.status, (await response.json()).code];
  };
  const responses = await Promise.all([...publicPaths.map((path) => sendNothing(path)), sendNothing("/api/queue", "operator")]);
  expect(responses).toEqual([...publicPaths, "/api/queue"].map((path) => [path, 408, "REQUEST_TIMEOUT"]));
});

test.each(["nonsense", "[]", "null", '{"email":{"a":1},"password":["x"]}', '{"csrfToken":7}'])(
  "returns 400 for a body that next-auth can't read: %s",
  async (body) => {
    const response = await post("/api/auth/callback/credentials", body);
    expect([response.status, (await response.json()).code]).toEqual([400, body === "nonsense" ? "INVALID_JSON" : "INVALID_BODY"]);
    expect(harness.getLog()).not.toContain('"level":50');
  },
);

test("responds to a load balancer immediately during a long start", async () => {
  const folder = createTemporaryFolder();
  const composition = startComposition({ env: readEnv({ LIGHTDESK_DATA_DIR: folder }), logDestination: { write: () => undefined } });
  let isReady = false;
  const ready = composition.ready.then(() => void (isReady = true));
  expect([await canSeeReasons(new IncomingMessage(new Socket())), isReady]).toEqual([false, false]);
  await ready;
  await composition.stop();
});
