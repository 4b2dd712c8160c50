import { expect, test } from "vitest";
import { readEnv } from "@/lib/server/env";
import { addressOf } from "@/lib/server/trusted-proxies";

const of = (setting: string | undefined, from: string, forwarded?: string) => {
  const { proxies } = readEnv(setting === undefined ? {} : { LIGHTDESK_TRUST_PROXY: setting }, "/root");
  return addressOf({ headers: { "x-forwarded-for": forwarded }, socket: { remoteAddress: from } }, proxies);
};
const client = "203.0.113.7";

test.each<[string | undefined, string, string | undefined, string]>([
  // Without a proxy nobody says who they are.
  [undefined, "10.0.0.5", client, "10.0.0.5"],
  ["0", "127.0.0.1", client, "127.0.0.1"],
  // One of this machine or network: what it wrote counts, what the client wrote before it does not.
  ["1", "127.0.0.1", client, client],
  ["1", "::ffff:10.0.0.5", `198.51.100.1, ${client}`, client],
  ["1", "fd00::5", "2001:db8::7", "2001:db8::7"],
  ["1", "127.0.0.1", undefined, "127.0.0.1"],
  // Whoever reaches the port past it, from the internet.
  ["1", "198.51.100.99", client, "198.51.100.99"],
  ["2", "10.0.0.5", `198.51.100.1, ${client}, 192.0.2.44`, client],
  ["2", "10.0.0.5", client, client],
  // Named ones: from the connection on, as far as the addresses are theirs.
  ["10.0.0.5", "10.0.0.5", `198.51.100.1, ${client}`, client],
  ["10.0.0.5", "10.0.0.6", client, "10.0.0.6"],
  ["10.0.0.0/8,192.0.2.44", "10.0.0.5", `198.51.100.1, ${client}, 192.0.2.44, 10.9.9.9`, client],
  ["198.51.100.0/24", "198.51.100.99", client, client],
  ["10.0.0.0/8", "10.0.0.5", "10.0.0.6, 10.0.0.7", "10.0.0.6"],
  // What is no address is nobody's.
  ["1", "127.0.0.1", "unknown", "127.0.0.1"],
  ["1", "127.0.0.1", `a${"b".repeat(5000)}`, "127.0.0.1"],
  ["10.0.0.0/8", "10.0.0.5", "nobody, 10.0.0.7", "10.0.0.7"],
  // Some write the port too.
  ["1", "127.0.0.1", `${client}:51234`, client],
  ["1", "127.0.0.1", "[2001:db8::7]:51234", "2001:db8::7"],
])("with LIGHTDESK_TRUST_PROXY=%s a request from %s that was forwarded for %s is of %s", (setting, from, forwarded, address) => {
  expect(of(setting, from, forwarded)).toBe(address);
});

test.each(["proxy.local", "10.0.0.0/33", "10", "-1", "10.0.0.1,"])("LIGHTDESK_TRUST_PROXY=%s stops a start", (setting) => {
  expect(() => of(setting, "10.0.0.5")).toThrow(/^LIGHTDESK_TRUST_PROXY must be/);
});
