// What a client without a session can make the console hold, and for how long. These routes are open to everyone.
import { afterAll, beforeAll, expect, test } from "vitest";
import { createHarness, type Harness } from "@/tests/support/harness";

let harness: Harness;
beforeAll(async () => {
  harness = await createHarness({ settings: { LIGHTDESK_REQUEST_TIMEOUT_SECONDS: "1" } });
});
afterAll(() => harness.dispose());

const open = ["/api/console/set-up", "/api/console/members/invitations/accept", "/api/auth/callback/credentials", "/api/auth/signout"];

/** A body that goes on for as long as it is read, and counts how much was read. */
function endless(chunk: Uint8Array | undefined) {
  let taken = 0;
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (chunk === undefined) return new Promise<void>(() => undefined);
      taken += chunk.byteLength;
      controller.enqueue(chunk);
    },
  });
  return { body, taken: () => taken };
}

const post = (path: string, body: BodyInit, type = "application/json") =>
  harness.request(path, { method: "POST", body, headers: { "content-type": type } });

test.each(open)("an endless body to %s is refused before much of it is read", async (path) => {
  for (const type of ["application/json", "application/x-www-form-urlencoded"]) {
    const { body, taken } = endless(new Uint8Array(16 * 1024).fill(97));
    const answer = await post(path, body, type);
    expect([answer.status, (await answer.json()).code]).toEqual([413, "FILE_TOO_LARGE"]);
    expect(taken()).toBeLessThan(256 * 1024);
  }
});

test.each(open)("a body to %s that never comes is not waited for", async (path) => {
  const answer = await post(path, endless(undefined).body);
  expect([answer.status, (await answer.json()).code]).toEqual([408, "REQUEST_TIMEOUT"]);
});

test("a member's body that never comes is not waited for either", async () => {
  const answer = await harness.request("/api/queue", { as: "operator", method: "POST", body: endless(undefined).body });
  expect([answer.status, (await answer.json()).code]).toEqual([408, "REQUEST_TIMEOUT"]);
});

test.each(["nonsense", "[]", "null", '{"email":{"a":1},"password":["x"]}', '{"csrfToken":7}'])(
  "a body that next-auth cannot read is the sender's fault, not the console's: %s",
  async (body) => {
    const answer = await post("/api/auth/callback/credentials", body);
    expect([answer.status, (await answer.json()).code]).toEqual([400, body === "nonsense" ? "INVALID_JSON" : "INVALID_BODY"]);
    expect(harness.log()).not.toContain('"level":50');
  },
);
