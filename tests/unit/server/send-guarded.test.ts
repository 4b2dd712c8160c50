import { afterAll, expect, test } from "vitest";
import { createGuardedSend } from "@/lib/server/upstream/send-guarded";
import { startLittleServer } from "@/tests/support/little-server";

const send = createGuardedSend({ trustedHosts: [], connectTimeoutMs: 500 });
afterAll(() => send.close());

const codeOf = (address: string) =>
  send(new Request(address)).then(
    () => "opened",
    (error: unknown) => (error instanceof Error && "code" in error ? error.code : String(error)),
  );

test.each([
  "https://127.0.0.1/",
  "https://[::1]/",
  "https://localhost/",
  "https://10.0.0.1/",
  "https://169.254.169.254/latest",
  "https://[::ffff:127.0.0.1]/",
  "http://8.8.8.8/",
])("%s is refused before a connection is tried", async (address) => {
  expect(await codeOf(address)).toBe("FORBIDDEN_ADDRESS");
});

test("a host that the configuration names is opened, another port of it is not", async () => {
  const [named, other] = [
    await startLittleServer((_, response) => void response.end("ok")),
    await startLittleServer((_, response) => void response.end("ok")),
  ];
  const trusting = createGuardedSend({ trustedHosts: [named.host] });
  expect(await (await trusting(new Request(named.url))).text()).toBe("ok");
  await expect(trusting(new Request(other.url))).rejects.toMatchObject({ code: "FORBIDDEN_ADDRESS" });
  expect(other.seen).toEqual([]);
  await Promise.all([trusting.close(), named.close(), other.close()]);
});
