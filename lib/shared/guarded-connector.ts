// Opens connections only to allowed addresses, checked after name resolution.

import { type LookupAddress, type LookupOptions } from "node:dns";
import { isIP } from "node:net";
import { buildConnector } from "undici";
import { createBlockList, isInNetworks, isPublicAddress } from "./ip-address";

type LookupAllOptions = LookupOptions & { all: true };
export type Resolve = (host: string, options: LookupAllOptions, done: (error: Error | null, addresses: LookupAddress[]) => void) => void;
type Done = (error: Error | null, address: string | LookupAddress[], family?: number) => void;
type Socket = { remoteAddress?: string; destroy(): unknown };
type ConnectCallback<S> = (...outcome: [null, S] | [Error, null]) => void;
type Connector<T, S> = (target: T, done: ConnectCallback<S>) => void;
type Lookup = (host: string, options: LookupOptions, done: Done) => void;

function createCheckedLookup(resolve: Resolve, isForbidden: (address: string) => boolean, createError: () => Error): Lookup {
  return (host, options, done) => {
    resolve(host, { ...options, all: true }, (error, addresses) => {
      const [firstAddress] = error ? [] : addresses;
      if (!firstAddress) return done(error ?? new Error(`no address for ${host}`), []);
      if (addresses.some(({ address }) => isForbidden(address))) return done(createError(), []);
      return options.all ? done(null, addresses) : done(null, firstAddress.address, firstAddress.family);
    });
  };
}

const forbiddenNetworks = createBlockList(
  "0.0.0.0/8",
  "169.254.0.0/16",
  // Metadata addresses of three other clouds.
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
  return isInNetworks(host, forbiddenNetworks);
}

/** Checks the address as written, and again after connecting, because a name may resolve to any address. */
function createCheckedConnector<T extends { hostname: string }, S extends Socket>(
  connect: Connector<T, S>,
  isForbidden: (address: string) => boolean,
  createError: () => Error,
): Connector<T, S> {
  return (target, done) => {
    if (isIpAddress(target.hostname) && isForbidden(removeBrackets(target.hostname))) return done(createError(), null);
    connect(target, (...outcome) => {
      const [error, socket] = outcome;
      if (error !== null || !isForbidden(socket.remoteAddress ?? "")) return done(...outcome);
      socket.destroy();
      done(createError(), null);
    });
  };
}

export function createGuardedConnector(timeout: number): buildConnector.connector {
  return createCheckedConnector(buildConnector({ timeout }), isForbiddenAddress, createForbiddenError);
}

function createForbiddenError(): Error {
  return Object.assign(new Error("connections to this address are forbidden"), { code: "FORBIDDEN_ADDRESS" });
}

export function createGuardedLookup(resolve: Resolve): Lookup {
  return createCheckedLookup(resolve, isForbiddenAddress, createForbiddenError);
}

export function createPublicConnector<T extends { hostname: string }, S extends Socket>(
  { resolve, createError }: { resolve: Resolve; createError: () => Error },
  build: (lookup: Lookup) => Connector<T, S>,
): Connector<T, S> {
  const isForbidden = (address: string) => !isPublicAddress(address);
  return createCheckedConnector(build(createCheckedLookup(resolve, isForbidden, createError)), isForbidden, createError);
}

/** Returns true if the host is written as an IP address. Host names are checked on connection. */
export function isIpAddress(hostname: string): boolean {
  return isIP(removeBrackets(hostname)) !== 0;
}

export function isPrivateAddress(hostname: string): boolean {
  return isIpAddress(hostname) && !isPublicAddress(removeBrackets(hostname));
}

function removeBrackets(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, "");
}
