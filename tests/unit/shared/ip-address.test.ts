import { BlockList } from "node:net";
import { expect, test } from "vitest";
import { isInNetworks, isPublicAddress, networks } from "@/lib/shared/ip-address";

test.each(["8.8.8.8", "1.1.1.1", "172.15.0.1", "172.32.0.1", "100.63.0.1", "2606:4700::1111", "2a00:1450::1", "2A00:1450:0:0:0:0:0:1"])(
  "%s is public",
  (address) => {
    expect(isPublicAddress(address)).toBe(true);
  },
);

test.each([
  "127.0.0.1",
  "0.0.0.0",
  "10.1.2.3",
  "172.16.0.1",
  "172.31.255.255",
  "192.168.1.1",
  "169.254.169.254",
  "100.64.0.1",
  "224.0.0.1",
  "255.255.255.255",
  "::1",
  "::",
  "fe80::1",
  "fe80::1%eth0",
  "fc00::1",
  "fd12::1",
  "ff02::1",
  "::ffff:127.0.0.1",
  "::ffff:7f00:1",
  "::ffff:8.8.8.8",
  "64:ff9b::7f00:1",
  "64:ff9b::8.8.8.8",
  "2001:0:7f00:1::",
  "2002:7f00:1::",
  "2001:db8::1",
])("%s is not public", (address) => {
  expect(isPublicAddress(address)).toBe(false);
});

test.each([
  "localhost",
  "",
  "1.1.1",
  "01.1.1.1",
  "0x8.8.8.8",
  "256.1.1.1",
  "1.1.1.1.1",
  ":",
  ":::",
  "2a00::1::1",
  "2a00:1:2:3:4:5:6:7:8",
  "2a00:1:2:3:4:5:6:7::",
  "2a00:1450:00001::",
  "1.2.3.4::",
  "2a00::1.2.3.4:5",
])("%s is no address, and so not public", (text) => {
  expect(isPublicAddress(text)).toBe(false);
});

test("a network holds what Node's own list says it holds", () => {
  const node = new BlockList();
  node.addSubnet("172.16.0.0", 12, "ipv4");
  node.addSubnet("2001:db8::", 33, "ipv6");
  const ours = networks("172.16.0.0/12", "2001:db8::/33");
  for (const address of [
    "172.15.255.255",
    "172.16.0.0",
    "172.31.255.255",
    "172.32.0.0",
    "2001:db8:7fff::1",
    "2001:db8:8000::1",
    "2001:db7::",
  ])
    expect([address, isInNetworks(address, ours)]).toEqual([address, node.check(address, address.includes(":") ? "ipv6" : "ipv4")]);
  expect(() => networks("10.0.0.0/33")).toThrow("no network");
});
