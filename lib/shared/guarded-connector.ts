// Opens connections only to allowed addresses, checked after name resolution.

import { type LookupAddress, type LookupOptions } from "node:dns";
import { isIP } from "node:net";
import { buildConnector } from "undici";
import { isInNetworks, isPublicAddress, networks } from "./ip-address";

type LookupAllOptions = LookupOptions & { all: true };
export type Resolve = (host: string, options: LookupAllOptions, done: (error: Error | null, addresses: LookupAddress[]) => void) => void;
type Done = (error: Error | null, address: string | LookupAddress[], family?: number) => void;
type Socket = { remoteAddress?: string; destroy(): unknown };
type ConnectCallback<S> = (...outcome: [null, S] | [Error, null]) => void;
type Connector<T, S> = (target: T, done: ConnectCallback<S>) => void;
type Lookup = (host: string, options: LookupOptions, done: Done) => void;

function checkedLookup(resolve: Resolve, isRefused: (address: string) => boolean, refusal: () => Error): Lookup {
  return (host, options, done) => {
    resolve(host, { ...options, all: true }, (error, addresses) => {
      const [first] = error ? [] : addresses;
      if (!first) return done(error ?? new Error(`no address for ${host}`), []);
      if (addresses.some(({ address }) => isRefused(address))) return done(refusal(), []);
      return options.all ? done(null, addresses) : done(null, first.address, first.family);
    });
  };
}

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
  "64:ff9b::169.254.0.0/112",
  "64:ff9b::100.100.100.200/128",
  "64:ff9b::168.63.129.16/128",
  "64:ff9b::192.0.0.192/128",
);

export function isForbiddenAddress(address: string): boolean {
  const host = address.replace(/^\[|\]$/g, "").split("%")[0] ?? "";
  return isInNetworks(host, never);
}

/** Never connects to a refused address: checked as written and again once connected, since a name may lead anywhere. */
function checkedConnector<T extends { hostname: string }, S extends Socket>(
  connect: Connector<T, S>,
  isRefused: (address: string) => boolean,
  refusal: () => Error,
): Connector<T, S> {
  return (target, done) => {
    if (isAddress(target.hostname) && isRefused(bare(target.hostname))) return done(refusal(), null);
    connect(target, (...outcome) => {
      const [error, socket] = outcome;
      if (error !== null || !isRefused(socket.remoteAddress ?? "")) return done(...outcome);
      socket.destroy();
      done(refusal(), null);
    });
  };
}

export function guardedConnector(timeout: number): buildConnector.connector {
  return checkedConnector(buildConnector({ timeout }), isForbiddenAddress, forbidden);
}

function forbidden(): Error {
  return Object.assign(new Error("an address that is never opened"), { code: "FORBIDDEN_ADDRESS" });
}

export function guardedLookup(resolve: Resolve): Lookup {
  return checkedLookup(resolve, isForbiddenAddress, forbidden);
}

export function publicConnector<T extends { hostname: string }, S extends Socket>(
  { resolve, refusal }: { resolve: Resolve; refusal: () => Error },
  build: (lookup: Lookup) => Connector<T, S>,
): Connector<T, S> {
  const isRefused = (address: string) => !isPublicAddress(address);
  return checkedConnector(build(checkedLookup(resolve, isRefused, refusal)), isRefused, refusal);
}

/** True if the host is written as an IP address. A name may lead anywhere; it is checked when it is connected to. */
export function isAddress(hostname: string): boolean {
  return isIP(bare(hostname)) !== 0;
}

export function isInside(hostname: string): boolean {
  return isAddress(hostname) && !isPublicAddress(bare(hostname));
}

function bare(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, "");
}
