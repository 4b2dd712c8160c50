// Addresses of the internet protocol as texts: what they are, and whether they belong to the public internet. Everything else
// (loopback, private, link-local, carrier, documentation, multicast, reserved, and IPv4 in IPv6 clothes of such) does not.
// Guarantees: a text that is not exactly an address is in no network and is not public.
// Must never: resolve a name, or need anything of Node.

type Address = { bits: 32 | 128; value: bigint };
type Network = Address & { prefix: number };

export function isPublicAddress(text: string): boolean {
  const address = parseAddress(text);
  if (!address) return false;
  // Outside 2000::/3 lie loopback, private, link-local, multicast, mapped IPv4 and NAT64: none of them is needed.
  return (address.bits === 32 || isWithin(address, globalUnicast)) && !isWithin(address, reserved);
}

/**
 * Whom limits count as one: an IPv4 address, or the 64 leading bits of an IPv6 address, which is the least that anybody is given. IPv4 in
 * IPv6 clothes is the IPv4 address; what is no address stands for itself.
 */
export function networkOf(text: string): string {
  const mapped = /^::ffff:([\d.]+)$/i.exec(text)?.[1];
  if (mapped !== undefined && parseFour(mapped) !== undefined) return mapped;
  const address = parseAddress(text.replace(/%.*$/, ""));
  return address?.bits === 128 ? `${(address.value >> 64n).toString(16)}::/64` : text;
}

/** False for what is no address. */
export function isInNetworks(text: string, list: readonly Network[]): boolean {
  const address = parseAddress(text);
  return address !== undefined && isWithin(address, list);
}

/** From "10.0.0.0/8" and "fe80::/10". Throws on anything else. */
export function networks(...texts: readonly string[]): readonly Network[] {
  return texts.map((text) => {
    const [start = "", prefix = ""] = text.split("/");
    const address = parseAddress(start);
    if (!address || !/^\d{1,3}$/.test(prefix) || Number(prefix) > address.bits) throw new Error(`${text} is no network`);
    return { ...address, prefix: Number(prefix) };
  });
}

const reserved = networks(
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
const globalUnicast = networks("2000::/3");

function isWithin(address: Address, list: readonly Network[]): boolean {
  return list.some(({ bits, value, prefix }) => {
    const rest = BigInt(bits - prefix);
    return bits === address.bits && value >> rest === address.value >> rest;
  });
}

function parseAddress(text: string): Address | undefined {
  const value = text.includes(":") ? parseSix(text) : parseFour(text);
  return value === undefined ? undefined : { bits: text.includes(":") ? 128 : 32, value };
}

function parseFour(text: string): bigint | undefined {
  if (!/^(0|[1-9]\d{0,2})(\.(0|[1-9]\d{0,2})){3}$/.test(text)) return undefined;
  const bytes = text.split(".").map(Number);
  return bytes.every((byte) => byte <= 255) ? bytes.reduce((value, byte) => (value << 8n) | BigInt(byte), 0n) : undefined;
}

function parseSix(text: string): bigint | undefined {
  const [head = "", tail, ...more] = text.split("::");
  if (more.length > 0) return undefined;
  const left = toGroups(head, tail === undefined);
  const right = toGroups(tail ?? "", true);
  if (!left || !right) return undefined;
  const missing = 8 - left.length - right.length;
  if (tail === undefined ? missing !== 0 : missing < 1) return undefined;
  const groups = [...left, ...Array.from({ length: missing }, () => 0n), ...right];
  return groups.reduce((value, group) => (value << 16n) | group, 0n);
}

/** `mayEndInFour`: the last 32 bits may be written as an IPv4 address. */
function toGroups(text: string, mayEndInFour: boolean): bigint[] | undefined {
  if (text === "") return [];
  const groups: bigint[] = [];
  const parts = text.split(":");
  for (const [index, part] of parts.entries()) {
    const four = mayEndInFour && index === parts.length - 1 && part.includes(".") ? parseFour(part) : undefined;
    if (four !== undefined) groups.push(four >> 16n, four & 0xffffn);
    else if (/^[0-9a-f]{1,4}$/i.test(part)) groups.push(BigInt(`0x${part}`));
    else return undefined;
  }
  return groups;
}
