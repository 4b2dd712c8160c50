// Opens addresses that somebody else named (previews, signed URLs): https on the public internet only, or a host that the
// configuration trusts.
// Guarantees: the address is judged after resolution and again on the connected socket, so a name that changes its mind gains nothing.
// Must never: be given a key or a cookie; the connection's own origin does not go through here.

import "server-only";
import { lookup as resolve, type LookupAddress, type LookupOptions } from "node:dns";
import { isIP } from "node:net";
import { Agent, buildConnector } from "undici";
import { isPublicAddress } from "@/lib/shared/ip-address";
import { createHttpSend, type HttpSend } from "./send-http";

type LookupCallback = (error: Error | null, address: string | LookupAddress[], family?: number) => void;

/** Never given a key. */
export type GuardedSend = HttpSend;

class ForbiddenAddress extends Error {
  readonly code = "FORBIDDEN_ADDRESS";
}

export function createGuardedSend(options: { trustedHosts: readonly string[]; connectTimeoutMs?: number }): GuardedSend {
  const timeout = options.connectTimeoutMs ?? 5000;
  const plain = buildConnector({ timeout });
  const guarded = buildConnector({ timeout, lookup: publicLookup });
  const connect: buildConnector.connector = (target, done) => {
    if (isTrusted(options.trustedHosts, target.hostname, target.port)) return plain(target, done);
    const host = target.hostname.replace(/^\[|\]$/g, "");
    if (target.protocol !== "https:" || (isIP(host) !== 0 && !isPublicAddress(host)))
      return done(new ForbiddenAddress("not a public https address"), null);
    guarded(target, (...outcome) => {
      const [error, socket] = outcome;
      if (error === null && !isPublicAddress(socket.remoteAddress ?? "")) {
        socket.destroy();
        return done(new ForbiddenAddress("not a public address"), null);
      }
      return done(...outcome);
    });
  };
  return createHttpSend({ dispatcher: new Agent({ connect, headersTimeout: 0, bodyTimeout: 60_000 }) });
}

function isTrusted(trustedHosts: readonly string[], hostname: string, port: string): boolean {
  const host = hostname.toLowerCase();
  return trustedHosts.includes(host) || trustedHosts.includes(`${host}:${port}`);
}

function publicLookup(hostname: string, options: LookupOptions, callback: LookupCallback): void {
  resolve(hostname, { ...options, all: true }, (error, addresses) => {
    const [first] = addresses ?? [];
    if (error || !first) return callback(error ?? new ForbiddenAddress("no address"), []);
    if (!addresses.every(({ address }) => isPublicAddress(address))) return callback(new ForbiddenAddress("not a public address"), []);
    return options.all ? callback(null, addresses) : callback(null, first.address, first.family);
  });
}
