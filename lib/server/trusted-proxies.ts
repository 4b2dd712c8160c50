// Trusted reverse proxies and the client address behind them. Reads X-Forwarded-For from right to left, as far as the proxies are trusted.

import "server-only";
import { type IncomingHttpHeaders } from "node:http";
import { isIP } from "node:net";
import { z } from "zod";
import { createBlockList, isInNetworks, toPlainAddress } from "@/lib/shared/ip-address";
import { type Log } from "./log";

/** `maxHops` is the number of chained proxies. If it is set, only the nearest one must be in `networks`. */
export type Proxies = { networks: ReturnType<typeof createBlockList>; maxHops: number | undefined };

export const networkListSchema = z
  .string()
  .transform((text) => text.split(",").map((part) => part.trim()))
  .refine((parts) => parts.every(isNetwork))
  .transform((parts) => createBlockList(...parts.map((part) => (part.includes("/") ? part : `${part}/${isIP(part) === 6 ? 128 : 32}`))));

/** If the setting is a number, only this machine and private networks are trusted, never a client on the internet. */
const privateNetworks = createBlockList(
  "127.0.0.0/8",
  "10.0.0.0/8",
  "172.16.0.0/12",
  "192.168.0.0/16",
  "100.64.0.0/10",
  "169.254.0.0/16",
  "::1/128",
  "fc00::/7",
  "fe80::/10",
);

export const proxiesSchema = z.union([
  z.literal("0").transform(() => undefined),
  z
    .string()
    .regex(/^[1-9]$/)
    .transform((count): Proxies => ({ networks: privateNetworks, maxHops: Number(count) })),
  networkListSchema.transform((networks): Proxies => ({ networks, maxHops: undefined })),
]);
export const proxiesFormat =
  "0, the number of chained reverse proxies in private networks (1 to 9), or their addresses and networks, such as 10.0.0.5,192.168.0.0/24";

type ProxiedRequest = { headers: IncomingHttpHeaders; socket: { remoteAddress?: string } };

export function isProxy(address: string, proxies: Proxies | undefined): boolean {
  return proxies !== undefined && isInNetworks(address, proxies.networks);
}

/** Returns a function that reads client addresses. Logs once if a proxy seems untrusted, because all its clients then share one address. */
export function createAddressReader(
  proxies: Proxies | undefined,
  log: () => Pick<Log, "warn"> | undefined,
): (request: ProxiedRequest) => string {
  let hasWarned = false;
  return (request) => {
    const { headers, socket } = request;
    const peerAddress = toPlainAddress(socket.remoteAddress ?? "unknown");
    if (!hasWarned && proxies && headers["x-forwarded-for"] !== undefined && !isProxy(peerAddress, proxies)) {
      const logger = log();
      hasWarned = logger !== undefined;
      logger?.warn({ address: peerAddress }, formatUntrustedMessage(peerAddress));
    }
    return getClientAddress(peerAddress, headers, proxies);
  };
}

function formatUntrustedMessage(peerAddress: string): string {
  return `X-Forwarded-For is not read: it came from ${peerAddress}, which LIGHTDESK_TRUST_PROXY does not trust. If that is your reverse proxy, set LIGHTDESK_TRUST_PROXY=${peerAddress}, followed by your other proxies, separated by commas.`;
}

function getClientAddress(peerAddress: string, headers: IncomingHttpHeaders, proxies: Proxies | undefined): string {
  let address = peerAddress;
  const forwardedFor = String(headers["x-forwarded-for"] ?? "").split(",");
  for (let hops = 0; forwardedFor.length > 0 && hops < (proxies?.maxHops ?? Infinity); hops += 1) {
    const isTrusted = isProxy(address, proxies) || (proxies?.maxHops !== undefined && hops > 0);
    const previousHop = isTrusted ? removePort(forwardedFor.pop()?.trim() ?? "") : "";
    if (isIP(previousHop) === 0) break;
    address = toPlainAddress(previousHop);
  }
  return address;
}

function removePort(text: string): string {
  return /^\[([^\]]*)\](?::\d+)?$/.exec(text)?.[1] ?? /^(\d+(?:\.\d+){3}):\d+$/.exec(text)?.[1] ?? text;
}

function isNetwork(text: string): boolean {
  const [address = "", prefix = "0", ...extraParts] = text.split("/");
  const version = isIP(address);
  return version !== 0 && extraParts.length === 0 && /^\d{1,3}$/.test(prefix) && Number(prefix) <= (version === 6 ? 128 : 32);
}
