// Which addresses belong to the public internet. Everything else (loopback, private, link-local, carrier, documentation,
// multicast, reserved, and IPv4 in IPv6 clothes of such) does not.

import "server-only";
import { BlockList, isIP } from "node:net";

const blocked = new BlockList();
for (const [network, bits] of [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 4],
  ["240.0.0.0", 4],
] as const)
  blocked.addSubnet(network, bits, "ipv4");

const globalUnicast = new BlockList();
globalUnicast.addSubnet("2000::", 3, "ipv6");
for (const [network, bits] of [
  ["2001::", 23],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["3fff::", 20],
] as const)
  blocked.addSubnet(network, bits, "ipv6");

const never = new BlockList();
never.addSubnet("0.0.0.0", 8, "ipv4");
never.addSubnet("169.254.0.0", 16, "ipv4");
never.addAddress("::", "ipv6");
never.addSubnet("fe80::", 10, "ipv6");
never.addAddress("fd00:ec2::254", "ipv6");

/** Link-local and metadata addresses: no service lives there, but a cloud's own secrets do. Loopback and private ones may be meant. */
export function isForbiddenAddress(address: string): boolean {
  const host = address.replace(/^\[|\]$/g, "").split("%")[0] ?? "";
  const family = isIP(host);
  return family !== 0 && never.check(host, family === 4 ? "ipv4" : "ipv6");
}

export function isPublicAddress(address: string): boolean {
  const family = isIP(address);
  if (family === 4) return !blocked.check(address, "ipv4");
  // Outside 2000::/3 lie loopback, private, link-local, multicast, mapped IPv4 and NAT64: none of them is needed.
  if (family === 6) return globalUnicast.check(address, "ipv6") && !blocked.check(address, "ipv6");
  return false;
}
