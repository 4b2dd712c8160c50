// Where downloads may come from. A host is permitted with its subdomains, over https; an origin permits exactly itself (for tests).
// Must never connect to a private, loopback or link-local address, whatever name led there: the address is checked when it is
// connected to, not before, and after every redirect again.

import { lookup as resolveName } from "node:dns";
import { BlockList, isIP, type LookupFunction } from "node:net";
import { ServiceError } from "../service-error";

export const defaultDownloadHosts: readonly string[] = ["huggingface.co", "civitai.com"];

const inner = new BlockList();
for (const [network, bits] of [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["224.0.0.0", 3],
] as const) {
  inner.addSubnet(network, bits, "ipv4");
}
for (const [network, bits] of [
  ["::", 128],
  ["::1", 128],
  ["64:ff9b::", 96],
  ["fc00::", 7],
  ["fe80::", 10],
  ["ff00::", 8],
] as const) {
  inner.addSubnet(network, bits, "ipv6");
}

export type SourcePolicy = { isPermitted(url: URL): boolean; isTrustedOrigin(url: URL): boolean };

export function createSourcePolicy(entries: readonly string[]): SourcePolicy {
  const origins = new Set(entries.filter((entry) => /^https?:\/\//i.test(entry)).map((entry) => new URL(entry).origin));
  const hosts = entries.filter((entry) => !/^https?:\/\//i.test(entry)).map((host) => host.toLowerCase());
  const isTrustedOrigin = (url: URL) => origins.has(url.origin);
  return {
    isTrustedOrigin,
    isPermitted(url) {
      if (isTrustedOrigin(url)) return true;
      const name = url.hostname.toLowerCase().replace(/\.$/, "");
      return (
        url.protocol === "https:" &&
        url.port === "" &&
        url.username === "" &&
        hosts.some((host) => name === host || name.endsWith(`.${host}`))
      );
    },
  };
}

export function requireSource(policy: SourcePolicy, text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !policy.isPermitted(url))
    throw new ServiceError("UNSUPPORTED_SOURCE", "source_url: this service does not download from there.", { field: "source_url" });
  return url;
}

export function isInnerAddress(address: string): boolean {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1] ?? address;
  return inner.check(mapped, isIP(mapped) === 6 ? "ipv6" : "ipv4");
}

/** For a socket: resolves a name and refuses it when any of its addresses lies inside. */
export const lookupOutside: LookupFunction = (hostname, options, callback) => {
  resolveName(hostname, { ...options, all: true }, (error, addresses) => {
    const refused =
      error ??
      (addresses.some(({ address }) => isInnerAddress(address))
        ? new ServiceError("UNSUPPORTED_SOURCE", "The source leads to an address inside the network.")
        : null);
    const [first] = addresses ?? [];
    if (refused || !first) callback(refused ?? new Error(`no address for ${hostname}`), "", 0);
    else if (options.all) callback(null, addresses);
    else callback(null, first.address, first.family);
  });
};
