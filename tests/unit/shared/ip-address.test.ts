import { expect, test } from "vitest";
import { isInNetworks, isPublicAddress, networkOf, networks } from "@/lib/shared/ip-address";

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

test("a network holds its first address and its last, also of the other kind, and no other text", () => {
  const some = networks("172.16.0.0/12", "2001:db8::/33");
  for (const inside of ["172.16.0.0", "172.31.255.255", "::ffff:172.16.0.1", "::ffff:ac10:1", "2001:db8:7fff::1"])
    expect([inside, isInNetworks(inside, some)]).toEqual([inside, true]);
  for (const outside of ["172.15.255.255", "172.32.0.0", "::ffff:172.32.0.0", "2001:db8:8000::1", "2001:db8::1%eth0", "172.16.0", ""])
    expect([outside, isInNetworks(outside, some)]).toEqual([outside, false]);
  for (const wrong of ["10.0.0.0/33", "10.0.0/8", "2001:db8::/129", "10.0.0.0"]) expect(() => networks(wrong)).toThrow();
});

test.each([
  ["2001:db8::1", "2001:DB8:0:0:1::", true],
  ["1::", "1:0:0:0:ffff::1", true],
  ["fe80::1%eth0", "fe80::2", true],
  ["0:0:3:4::1", "::3:4:0:0:0:2", true],
  ["2001:db8::1", "2001:db8:0:1::1", false],
  ["10.0.0.1", "::ffff:10.0.0.1", true],
  ["10.0.0.1", "10.0.0.2", false],
])("limits count %s and %s as one: %s", (one, other, isOne) => {
  expect(networkOf(one) === networkOf(other)).toBe(isOne);
});
