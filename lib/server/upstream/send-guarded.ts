// Opens addresses that others named (previews, signed URLs): https on the public internet only, or a host that the configuration trusts.
// Guarantees: the address is checked after resolution and again on the connected socket, so a name that resolves differently later gains
// nothing.
// Must never: be given a key or a cookie; requests to the connection's own origin do not use it.

import "server-only";
import { lookup as systemLookup } from "node:dns";
import { Agent, buildConnector } from "undici";
import { publicConnector, type Resolve } from "@/lib/shared/guarded-connector";
import { createHttpSend, type HttpSend } from "./send-http";

/** Never given a key. */
export type GuardedSend = HttpSend;

class ForbiddenAddress extends Error {
  readonly code = "FORBIDDEN_ADDRESS";
}

type Options = { trustedHosts: readonly string[]; connectTimeoutMs?: number; resolve?: Resolve };

export function createGuardedSend({ trustedHosts, connectTimeoutMs: timeout = 5000, resolve = systemLookup }: Options): GuardedSend {
  const refusal = () => new ForbiddenAddress("not a public https address");
  const plain = buildConnector({ timeout });
  const guarded = publicConnector({ resolve, refusal }, (lookup) => buildConnector({ timeout, lookup }));
  const connect: buildConnector.connector = (target, done) => {
    if (isTrusted(trustedHosts, target.hostname, target.port)) return plain(target, done);
    if (target.protocol !== "https:") return done(refusal(), null);
    guarded(target, done);
  };
  return createHttpSend({ dispatcher: new Agent({ connect, headersTimeout: 0, bodyTimeout: 60_000 }) });
}

function isTrusted(trustedHosts: readonly string[], hostname: string, port: string): boolean {
  const host = hostname.toLowerCase();
  return trustedHosts.includes(host) || trustedHosts.includes(`${host}:${port}`);
}
