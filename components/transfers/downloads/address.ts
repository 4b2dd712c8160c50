// Addresses as typed, one per line, and whether a service may be asked for each.
// Guarantees: bounded; says what is wrong with each. The service decides in the end.

import { maskedAddress } from "@/lib/contract/assets/file-refs";
import { isLoopback } from "@/lib/contract/connections";

export type AddressFault = "none" | "scheme" | "host" | "credentials" | "long" | "twice";
/** `shown` is without the query, which may hold a token. */
export type Address = { url: string; shown: string; fault?: AddressFault };

export const MOST_ADDRESSES = 100;
const LONGEST = 4_000;

export function readAddresses(text: string): { addresses: Address[]; isCut: boolean } {
  const lines = text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
  const seen = new Set<string>();
  const addresses = lines.slice(0, MOST_ADDRESSES).map((url): Address => {
    const fault = seen.has(url) ? "twice" : faultOf(url);
    seen.add(url);
    return { url, shown: maskedAddress(url).slice(0, 300), ...(fault && { fault }) };
  });
  return { addresses, isCut: lines.length > MOST_ADDRESSES };
}

function faultOf(text: string): AddressFault | undefined {
  if (text.length > LONGEST) return "long";
  if (!URL.canParse(text)) return "none";
  const { protocol, hostname, username, password } = new URL(text);
  if (hostname === "") return protocol === "http:" || protocol === "https:" ? "host" : "scheme";
  if (username !== "" || password !== "") return "credentials";
  // Only a service's own settings may permit a source on the same machine, so the service is asked.
  if (protocol === "https:" || (protocol === "http:" && isLoopback(hostname))) return undefined;
  return "scheme";
}
