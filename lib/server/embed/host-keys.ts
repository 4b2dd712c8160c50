// What a host's tickets are checked with: its secret, or the keys at its address.
// Guarantees: the algorithms are the configuration's and never the ticket's, `none` is none of them; keys are asked for over https on the
// public internet, a trusted host or this machine, within a time and a size, kept for a while, and asked for anew for a key that is not
// among them, at most twice a minute. Must never: follow a redirect.

import "server-only";
import { createLocalJWKSet, type JWTVerifyGetKey, type JWTVerifyOptions, jwtVerify, type JWTPayload } from "jose";
import { z } from "zod";
import { isOnThisMachine } from "@/lib/contract/embedding";
import { parseJson } from "@/lib/contract/json/json";
import { unseal } from "../keys/cipher";
import { type KeyRing } from "../keys/key-ring";
import { type EmbedHost } from "../store/embed-hosts";
import { type Send } from "../upstream/send";
import { readBytes } from "../upstream/streams";

const KEPT_MS = 10 * 60_000;
const AGAIN_MS = 30_000;
const TIMEOUT_MS = 5000;
const MOST_BYTES = 64 * 1024;
const MOST_KEPT = 100;

const jwksSchema = z.object({ keys: z.array(z.looseObject({ kty: z.string() })).max(100) });
type Kept = { keys: JWTVerifyGetKey; atMs: number };

/** Why a key could not be had. */
class KeysAway extends Error {
  readonly code = "KEYS_AWAY";
}

export type HostKeys = ReturnType<typeof createHostKeys>;
type Options = { ring: KeyRing; now: () => number; sendHere: Send; sendForeign: Send };

export function recordOfHost(id: string): string {
  return `embed_hosts/${id}`;
}

export function createHostKeys({ ring, now, sendHere, sendForeign }: Options) {
  const kept = new Map<string, Kept>();

  async function fetchKeys(url: string): Promise<Kept> {
    const send = isOnThisMachine(new URL(url).hostname) ? sendHere : sendForeign;
    try {
      const signal = AbortSignal.timeout(TIMEOUT_MS);
      const answer = await send(new Request(url, { headers: { accept: "application/json" }, signal }));
      const bytes = answer.status === 200 ? await readBytes(answer.body, MOST_BYTES, { signal }) : undefined;
      if (!bytes) throw new KeysAway(`status ${answer.status}, or more than ${MOST_BYTES} bytes`);
      const { keys } = jwksSchema.parse(parseJson(new TextDecoder().decode(bytes)));
      const fresh = { keys: createLocalJWKSet({ keys }), atMs: now() };
      if (kept.size >= MOST_KEPT) kept.clear();
      kept.set(url, fresh);
      return fresh;
    } catch (error) {
      throw error instanceof KeysAway ? error : new KeysAway(error instanceof Error ? error.message : "unreadable", { cause: error });
    }
  }

  async function verifyByAddress(url: string, ticket: string, options: JWTVerifyOptions): Promise<JWTPayload> {
    const known = kept.get(url);
    const current = known && now() - known.atMs < KEPT_MS ? known : await fetchKeys(url);
    const asked = { ...options, algorithms: ["RS256", "PS256", "ES256", "EdDSA"] };
    try {
      return (await jwtVerify(ticket, current.keys, asked)).payload;
    } catch (error) {
      if (!isCode(error, "ERR_JWKS_NO_MATCHING_KEY") || now() - current.atMs < AGAIN_MS) throw error;
      return (await jwtVerify(ticket, (await fetchKeys(url)).keys, asked)).payload;
    }
  }

  return {
    /** Throws jose's errors, and `KeysAway`. */
    async verify(host: EmbedHost, ticket: string, options: JWTVerifyOptions): Promise<JWTPayload> {
      if (host.jwksUrl !== null) return verifyByAddress(host.jwksUrl, ticket, options);
      const secret = host.sealed && unseal(ring, recordOfHost(host.id), host.sealed);
      if (secret === undefined) throw new KeysAway("the ring does not open the secret");
      return (await jwtVerify(ticket, new TextEncoder().encode(secret), { ...options, algorithms: ["HS256"] })).payload;
    },
  };
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}
