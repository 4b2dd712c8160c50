import { expect, test } from "vitest";
import { readEnv } from "@/lib/server/env";
import { addressReader } from "@/lib/server/trusted-proxies";

const readerOf = (setting: string | undefined, warn = (_fields: object, _message: string) => {}) => {
  const { proxies } = readEnv(setting === undefined ? {} : { LIGHTDESK_TRUST_PROXY: setting }, "/root");
  const addressOf = addressReader(proxies, () => ({ warn }));
  return (from: string, forwarded?: string) => addressOf({ headers: { "x-forwarded-for": forwarded }, socket: { remoteAddress: from } });
};
const of = (setting: string | undefined, from: string, forwarded?: string) => readerOf(setting)(from, forwarded);
const client = "203.0.113.7";

test.each<[string | undefined, string, string | undefined, string]>([
  // Without a proxy the header is ignored.
  [undefined, "10.0.0.5", client, "10.0.0.5"],
  ["0", "127.0.0.1", client, "127.0.0.1"],
  // A proxy on this machine or network: the address that it added counts, those that the client wrote before it do not.
  ["1", "127.0.0.1", client, client],
  ["1", "::ffff:10.0.0.5", `198.51.100.1, ${client}`, client],
  ["1", "fd00::5", "2001:db8::7", "2001:db8::7"],
  ["1", "100.64.0.9", client, client],
  ["1", "127.0.0.1", undefined, "127.0.0.1"],
  // A client from the internet that reaches the port without passing the proxy.
  ["1", "198.51.100.99", client, "198.51.100.99"],
  ["2", "10.0.0.5", `198.51.100.1, ${client}, 192.0.2.44`, client],
  ["2", "10.0.0.5", client, client],
  // Named proxies: going back from the connection for as long as the addresses are theirs.
  ["10.0.0.5", "10.0.0.5", `198.51.100.1, ${client}`, client],
  ["10.0.0.5", "10.0.0.6", client, "10.0.0.6"],
  ["10.0.0.0/8,192.0.2.44", "10.0.0.5", `198.51.100.1, ${client}, 192.0.2.44, 10.9.9.9`, client],
  ["198.51.100.0/24", "198.51.100.99", client, client],
  ["10.0.0.0/8", "10.0.0.5", "10.0.0.6, 10.0.0.7", "10.0.0.6"],
  // Text that is no address is ignored.
  ["1", "127.0.0.1", "unknown", "127.0.0.1"],
  ["1", "127.0.0.1", `a${"b".repeat(5000)}`, "127.0.0.1"],
  ["10.0.0.0/8", "10.0.0.5", "nobody, 10.0.0.7", "10.0.0.7"],
  // Some proxies add the port.
  ["1", "127.0.0.1", `${client}:51234`, client],
  ["1", "127.0.0.1", "[2001:db8::7]:51234", "2001:db8::7"],
])("with LIGHTDESK_TRUST_PROXY=%s a request from %s that was forwarded for %s is of %s", (setting, from, forwarded, address) => {
  expect(of(setting, from, forwarded)).toBe(address);
});

test.each(["proxy.local", "10.0.0.0/33", "10", "-1", "10.0.0.1,"])("LIGHTDESK_TRUST_PROXY=%s stops a start", (setting) => {
  expect(() => of(setting, "10.0.0.5")).toThrow(/^LIGHTDESK_TRUST_PROXY must be/);
});

test.each<[string, string]>([
  ["1", "198.51.100.99"],
  ["10.0.0.5", "10.0.0.6"],
])("with LIGHTDESK_TRUST_PROXY=%s what %s forwards is not believed, which the log says once, and what to write", (setting, from) => {
  const logged: string[] = [];
  const addressOf = readerOf(setting, (_fields, message) => void logged.push(message));
  expect([addressOf(from), addressOf("10.0.0.5", client), logged]).toEqual([from, client, []]);
  expect([addressOf(from, client), addressOf(from, client)]).toEqual([from, from]);
  expect(logged).toEqual([expect.stringContaining(`LIGHTDESK_TRUST_PROXY=${from}`)]);
});

test("where no proxy is set, nothing is logged of what is forwarded", () => {
  const logged: string[] = [];
  readerOf("0", (_fields, message) => void logged.push(message))("198.51.100.99", client);
  expect(logged).toEqual([]);
});
