// Classifies IP addresses on the server. Text that is not exactly an address is in no network and not public.

import { BlockList, isIP } from "node:net";

export function isPublicAddress(text: string): boolean {
  // Addresses outside 2000::/3 are loopback, private, link-local, multicast, mapped IPv4 and NAT64, which are not needed.
  return (isIP(text) === 4 || isInNetworks(text, globalUnicastNetworks)) && !isInNetworks(text, reservedNetworks);
}

/** Converts an IPv4-mapped IPv6 address to IPv4. Dual-stack sockets report IPv4 clients as `::ffff:192.0.2.1`. */
export function toPlainAddress(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/i, "");
}

/** Returns the network that limits apply to: an IPv4 address, or the first 64 bits of an IPv6 address. Returns other texts unchanged. */
export function getNetwork(text: string): string {
  const plainAddress = toPlainAddress(text);
  if (isIP(plainAddress) === 4) return plainAddress;
  const address = text.replace(/%.*$/, "");
  if (isIP(address) !== 6) return text;
  const [head = "", tail = ""] = new URL(`http://[${address}]`).hostname.slice(1, -1).split("::");
  const [headGroups = [], tailGroups = []] = [head, tail].map((part) => part.split(":").filter(Boolean));
  const groups = [...headGroups, ...new Array<string>(8 - headGroups.length - tailGroups.length).fill("0"), ...tailGroups];
  return `${groups.slice(0, 4).join(":")}::/64`;
}

/** Returns false for a text that is not an address or includes an interface. Mapped IPv4 addresses count as IPv4 addresses. */
export function isInNetworks(text: string, list: BlockList): boolean {
  const version = text.includes("%") ? 0 : isIP(text);
  return version !== 0 && list.check(text, version === 6 ? "ipv6" : "ipv4");
}

export function createBlockList(...texts: readonly string[]): BlockList {
  const list = new BlockList();
  for (const text of texts) {
    const [start = "", prefix = ""] = text.split("/");
    list.addSubnet(start, Number.parseInt(prefix, 10), isIP(start) === 6 ? "ipv6" : "ipv4");
  }
  return list;
}

const reservedNetworks = createBlockList(
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.88.99.0/24",
  "192.168.0.0/16",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/4",
  "240.0.0.0/4",
  "2001::/23",
  "2001:db8::/32",
  "2002::/16",
  "3fff::/20",
);
const globalUnicastNetworks = createBlockList("2000::/3");
