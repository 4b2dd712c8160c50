// Addresses that are never a service, whatever the configuration says: link-local ones, and metadata ones, where a cloud keeps its secrets.
// Loopback and private addresses may be meant. ip-address.ts decides what is public. For servers: it needs Node's types.

import { buildConnector } from "undici";
import { checkedLookup, type Lookup, type Resolve } from "./checked-lookup";
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

export function guardedLookup(resolve: Resolve): Lookup {
  return checkedLookup(resolve, isForbiddenAddress, forbidden);
}
