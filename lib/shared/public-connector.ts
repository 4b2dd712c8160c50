// Connects only to the public internet, for code that opens addresses a stranger named. For servers: it needs Node's types.
// Guarantees: a name's addresses are checked in the same look-up whose result is connected to, and the connected socket's own address is
// checked again, so a name that changes in between gains nothing. An address is never looked up.
// Must never: look up a name or open a socket by itself; the caller passes both in.

import { isIP } from "node:net";
import { checkedLookup, type Lookup, type Resolve } from "./checked-lookup";
import { isPublicAddress } from "./ip-address";

type Socket = { remoteAddress?: string; destroy(): unknown };
type Done<S> = (...outcome: [null, S] | [Error, null]) => void;
type Connector<T, S> = (target: T, done: Done<S>) => void;

/** `build` makes a connector that uses the given look-up; every address that is not public ends with `refusal`. */
export function publicConnector<T extends { hostname: string }, S extends Socket>(
  { resolve, refusal }: { resolve: Resolve; refusal: () => Error },
  build: (lookup: Lookup) => Connector<T, S>,
): Connector<T, S> {
  const connect = build(checkedLookup(resolve, (address) => !isPublicAddress(address), refusal));
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
