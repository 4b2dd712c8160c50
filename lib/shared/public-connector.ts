// Connects only to the public internet, for code that opens addresses a stranger named. For servers: it needs Node's types.
// Guarantees: a name's addresses are checked in the same look-up whose result is connected to, and the connected socket's own address is
// checked again, so a name that changes in between gains nothing. An address is never looked up.
// Must never: look up a name or open a socket by itself; the caller passes both in.

import { type LookupAddress, type LookupOptions } from "node:dns";
import { isIP } from "node:net";
import { isPublicAddress } from "./ip-address";

type All = LookupOptions & { all: true };
export type Resolve = (host: string, options: All, done: (error: Error | null, addresses: LookupAddress[]) => void) => void;
type LookupCallback = (error: Error | null, address: string | LookupAddress[], family?: number) => void;
type Lookup = (host: string, options: LookupOptions, done: LookupCallback) => void;

type Socket = { remoteAddress?: string; destroy(): unknown };
type Done<S> = (...outcome: [null, S] | [Error, null]) => void;
type Connector<T, S> = (target: T, done: Done<S>) => void;

/** `build` makes a connector that uses the given look-up; every address that is not public ends with `refusal`. */
export function publicConnector<T extends { hostname: string }, S extends Socket>(
  { resolve, refusal }: { resolve: Resolve; refusal: () => Error },
  build: (lookup: Lookup) => Connector<T, S>,
): Connector<T, S> {
  const connect = build((host, options, done) => {
    resolve(host, { ...options, all: true }, (error, addresses) => {
      const [first] = error ? [] : addresses;
      if (!first) return done(error ?? new Error(`no address for ${host}`), []);
      if (!addresses.every(({ address }) => isPublicAddress(address))) return done(refusal(), []);
      return options.all ? done(null, addresses) : done(null, first.address, first.family);
    });
  });
  return (target, done) => {
    if (isInside(target.hostname)) return done(refusal(), null);
    connect(target, (...outcome) => {
      const [error, socket] = outcome;
      if (error !== null || isPublicAddress(socket.remoteAddress ?? "")) return done(...outcome);
      socket.destroy();
      done(refusal(), null);
    });
  };
}

/** True if the host is written as an IP address. A name may lead anywhere; it is checked when it is connected to. */
export function isAddress(hostname: string): boolean {
  return isIP(bare(hostname)) !== 0;
}

/** True for an IP address that is not public. */
export function isInside(hostname: string): boolean {
  return isAddress(hostname) && !isPublicAddress(bare(hostname));
}

function bare(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, "");
}
