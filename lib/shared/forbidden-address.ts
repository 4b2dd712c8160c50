// Addresses that are never a service, whatever the configuration says: link-local ones, and metadata ones, where a cloud keeps its secrets.
// Loopback and private addresses may be meant. ip-address.ts decides what is public. For servers: it needs Node's types.

import { type LookupAddress, type LookupOptions } from "node:dns";
import { buildConnector } from "undici";
import { isInNetworks, networks } from "./ip-address";

const never = networks(
  "0.0.0.0/8",
  "169.254.0.0/16",
  // The metadata addresses of three more clouds.
  "100.100.100.200/32",
  "168.63.129.16/32",
  "192.0.0.192/32",
  "::/128",
  "fe80::/10",
  "fd00:ec2::254/128",
  // The same addresses through NAT64. The IPv4-mapped forms are recognised anyway.
  "64:ff9b::169.254.0.0/112",
  "64:ff9b::100.100.100.200/128",
  "64:ff9b::168.63.129.16/128",
  "64:ff9b::192.0.0.192/128",
);

export function isForbiddenAddress(address: string): boolean {
  const host = address.replace(/^\[|\]$/g, "").split("%")[0] ?? "";
  return isInNetworks(host, never);
}

/** Opens no connection to such an address: checked as written and again once connected, since a name may lead anywhere. */
export function guardedConnector(timeout: number): buildConnector.connector {
  const plain = buildConnector({ timeout });
  return (target, done) => {
    if (isForbiddenAddress(target.hostname)) return done(forbidden(), null);
    plain(target, (...outcome) => {
      const [error, socket] = outcome;
      if (error !== null || !isForbiddenAddress(socket.remoteAddress ?? "")) return done(...outcome);
      socket.destroy();
      done(forbidden(), null);
    });
  };
}

function forbidden(): Error {
  return Object.assign(new Error("an address that is never opened"), { code: "FORBIDDEN_ADDRESS" });
}

type Done = (error: Error | null, address: string | LookupAddress[], family?: number) => void;
type All = LookupOptions & { all: true };
type Resolve = (host: string, options: All, done: (error: Error | null, addresses: LookupAddress[]) => void) => void;

/** A look-up whose result is checked before anything connects to it. */
export function guardedLookup(resolve: Resolve) {
  return (host: string, options: LookupOptions, done: Done): void => {
    resolve(host, { ...options, all: true }, (error, addresses) => {
      const [first] = error ? [] : addresses;
      if (!first) return done(error ?? new Error(`no address for ${host}`), []);
      if (addresses.some(({ address }) => isForbiddenAddress(address))) return done(forbidden(), []);
      return options.all ? done(null, addresses) : done(null, first.address, first.family);
    });
  };
}
