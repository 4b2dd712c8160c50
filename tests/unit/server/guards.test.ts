import { afterAll, describe, expect, test } from "vitest";
import { readEnv } from "@/lib/server/env";
import { createAttemptLimit } from "@/lib/server/limits/attempt-limit";
import { createAddressReader } from "@/lib/server/trusted-proxies";
import { createGuardedSend } from "@/lib/server/upstream/send";
import { openTestServer } from "@/tests/support/servers";

test("allows a burst, then one per refill, and returns the wait", async () => {
  let now = 1000;
  const limit = createAttemptLimit({ now: () => now, burst: 3, refillMs: 100 });
  expect([await limit.consume("a"), await limit.consume("a"), await limit.consume("a")]).toEqual([0, 0, 0]);
  expect(await limit.consume("a")).toBe(100);
  expect(await limit.consume("b")).toBe(0);
  now += 60;
  expect(await limit.consume("a")).toBe(40);
  now += 40;
  expect(await limit.consume("a")).toBe(0);
  expect(await limit.consume("a")).toBe(100);
});

test("refunds permits up to the burst", async () => {
  const limit = createAttemptLimit({ now: () => 0, burst: 2, refillMs: 100 });
  expect([await limit.consume("a"), await limit.consume("a"), await limit.consume("a")]).toEqual([0, 0, 100]);
  await limit.refund("a");
  expect([await limit.consume("a"), await limit.consume("a")]).toEqual([0, 100]);
  for (let count = 0; count < 9; count += 1) await limit.refund("a");
  expect([await limit.consume("a"), await limit.consume("a"), await limit.consume("a")]).toEqual([0, 0, 100]);
});

test("sets no limit when the burst is 0", async () => {
  const limit = createAttemptLimit({ now: () => 0, burst: 0, refillMs: 0 });
  expect((await Promise.all(Array.from({ length: 100 }, () => limit.consume("a")))).every((wait) => wait === 0)).toBe(true);
});

const createReader = (setting: string | undefined, warn = (_fields: object, _message: string) => {}) => {
  const { proxies } = readEnv(setting === undefined ? {} : { LIGHTDESK_TRUST_PROXY: setting }, "/root");
  const readAddress = createAddressReader(proxies, () => ({ warn }));
  return (from: string, forwarded?: string) => readAddress({ headers: { "x-forwarded-for": forwarded }, socket: { remoteAddress: from } });
};
const resolveAddress = (setting: string | undefined, from: string, forwarded?: string) => createReader(setting)(from, forwarded);
const client = "203.0.113.7";

test.each<[string | undefined, string, string | undefined, string]>([
  // Without a proxy the header is ignored.
  [undefined, "10.0.0.5", client, "10.0.0.5"],
  ["0", "127.0.0.1", client, "127.0.0.1"],
  [undefined, "::ffff:10.0.0.5", client, "10.0.0.5"],
  // A proxy on this machine or network: only the address that the proxy added counts.
  ["1", "127.0.0.1", client, client],
  ["1", "::ffff:10.0.0.5", `198.51.100.1, ::ffff:${client}`, client],
  ["1", "fd00::5", "2001:db8::7", "2001:db8::7"],
  ["1", "100.64.0.9", client, client],
  ["1", "127.0.0.1", undefined, "127.0.0.1"],
  // An internet client that bypasses the proxy.
  ["1", "198.51.100.99", client, "198.51.100.99"],
  ["2", "10.0.0.5", `198.51.100.1, ${client}, 192.0.2.44`, client],
  ["2", "10.0.0.5", client, client],
  // Listed proxies: the last address that is not a listed proxy counts.
  ["10.0.0.5", "10.0.0.5", `198.51.100.1, ${client}`, client],
  ["10.0.0.5", "10.0.0.6", client, "10.0.0.6"],
  ["10.0.0.0/8,192.0.2.44", "10.0.0.5", `198.51.100.1, ${client}, 192.0.2.44, 10.9.9.9`, client],
  ["198.51.100.0/24", "198.51.100.99", client, client],
  ["10.0.0.0/8", "10.0.0.5", "10.0.0.6, 10.0.0.7", "10.0.0.6"],
  // Invalid addresses are ignored.
  ["1", "127.0.0.1", "unknown", "127.0.0.1"],
  ["1", "127.0.0.1", `a${"b".repeat(5000)}`, "127.0.0.1"],
  ["10.0.0.0/8", "10.0.0.5", "nobody, 10.0.0.7", "10.0.0.7"],
  // Some proxies add the port.
  ["1", "127.0.0.1", `${client}:51234`, client],
  ["1", "127.0.0.1", "[2001:db8::7]:51234", "2001:db8::7"],
])("with trusted proxy %s, resolves peer %s forwarded for %s to %s", (setting, from, forwarded, address) => {
  expect(resolveAddress(setting, from, forwarded)).toBe(address);
});

test.each(["proxy.local", "10.0.0.0/33", "10", "-1", "10.0.0.1,"])("rejects LIGHTDESK_TRUST_PROXY=%s", (setting) => {
  expect(() => resolveAddress(setting, "10.0.0.5")).toThrow(/^LIGHTDESK_TRUST_PROXY must be/);
});

test.each<[string, string]>([
  ["1", "198.51.100.99"],
  ["10.0.0.5", "10.0.0.6"],
])("with trusted proxy %s, ignores forwarding by %s and logs the setting to use", (setting, from) => {
  const messages: string[] = [];
  const readAddress = createReader(setting, (_fields, message) => void messages.push(message));
  expect([readAddress(from), readAddress("10.0.0.5", client), messages]).toEqual([from, client, []]);
  expect([readAddress(from, client), readAddress(from, client)]).toEqual([from, from]);
  expect(messages).toEqual([expect.stringContaining(`LIGHTDESK_TRUST_PROXY=${from}`)]);
});

test("logs nothing when proxies are disabled", () => {
  const messages: string[] = [];
  createReader("0", (_fields, message) => void messages.push(message))("198.51.100.99", client);
  expect(messages).toEqual([]);
});

describe("createGuardedSend", () => {
  const send = createGuardedSend({ trustedHosts: [], connectTimeoutMs: 500 });
  afterAll(() => send.close());

  const getCode = (address: string) =>
    send(new Request(address)).then(
      () => "opened",
      (error: unknown) => (error instanceof Error && "code" in error ? error.code : String(error)),
    );

  test.each([
    "https://localhost/",
    "https://169.254.169.254/latest",
    "https://[::ffff:127.0.0.1]/",
    "https://2130706433/",
    "https://0177.0.0.1/",
    "https://127.1:25/",
    "http://8.8.8.8/",
  ])("rejects %s before connecting", async (address) => {
    expect(await getCode(address)).toBe("FORBIDDEN_ADDRESS");
  });

  test("allows a trusted host, but not another port of it", async () => {
    const openServer = () => openTestServer((_, response) => void response.end("ok"));
    const [trustedServer, otherServer] = [await openServer(), await openServer()];
    const trustingSend = createGuardedSend({ trustedHosts: [trustedServer.host] });
    expect(await (await trustingSend(new Request(trustedServer.url))).text()).toBe("ok");
    await expect(trustingSend(new Request(otherServer.url))).rejects.toMatchObject({ code: "FORBIDDEN_ADDRESS" });
    expect(otherServer.requests).toEqual([]);
    await trustingSend.close();
  });

  test("rejects a host when any resolved address is private", async () => {
    const [privateServer, publicAddress] = [await openTestServer((_, response) => void response.end("inside")), "203.0.114.1"];
    const port = new URL(privateServer.url).port;
    for (const addresses of [["127.0.0.1"], [publicAddress, "127.0.0.1"], ["::ffff:10.0.0.1"], []]) {
      const resolvedHosts: string[] = [];
      const guardedSend = createGuardedSend({
        trustedHosts: [],
        resolve: (host, _, callback) => {
          resolvedHosts.push(host);
          callback(
            null,
            addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 })),
          );
        },
      });
      for (let attempt = 1; attempt <= 2; attempt += 1) {
        const request = guardedSend(new Request(`https://storage.example:${port}/signed.png`));
        await expect(request).rejects.toThrow(addresses.length > 0 ? "not a public https address" : "no address");
        expect(resolvedHosts).toHaveLength(attempt);
      }
      await guardedSend.close();
    }
    expect(privateServer.requests).toEqual([]);
  });
});
