// Verifies host tickets with the host's secret or its published keys. Algorithms come from the settings, never from the ticket.

import "server-only";
import { createLocalJWKSet, type JWTPayload, jwtVerify, type JWTVerifyGetKey, type JWTVerifyOptions } from "jose";
import { z } from "zod";
import { isOnThisMachine } from "@/lib/contract/embed/embedding";
import { parseJson } from "@/lib/contract/json/parse-json";
import { codeOf } from "@/lib/shared/error-codes";
import { createLru } from "@/lib/shared/lru";
import { type KeyRing, unseal } from "../keys/key-ring";
import { type Log } from "../log";
import { type Sealed } from "../store/connections";
import { type EmbedHost } from "../store/embed-hosts";
import { type Send } from "../upstream/send";
import { readBytes } from "../upstream/streams";

const KEPT_MS = 10 * 60_000;
/** How long kept keys are used while new ones cannot be fetched. */
const MAX_KEPT_MS = 60 * 60_000;
const AGAIN_MS = 30_000;
const FAILED_MS = 10_000;
const TIMEOUT_MS = 5000;
const MAX_BYTES = 64 * 1024;
const MAX_HOSTS = 100;

const jwksSchema = z.object({ keys: z.array(z.looseObject({ kty: z.string() })).max(100) });
type Kept = { keys: JWTVerifyGetKey; atMs: number };
/** For an address: the last keys, the request under way, and the last failure. */
type Known = { kept?: Kept; asking?: Promise<Kept>; failed?: { error: unknown; atMs: number } };

/** The keys could not be fetched. */
class KeysAway extends Error {
  readonly code = "KEYS_AWAY";
}

export type HostKeys = ReturnType<typeof createHostKeys>;
type Options = { ring: KeyRing; now: () => number; log: Log; sendHere: Send; sendForeign: Send };

export function recordOfHost(id: string): string {
  return `embed_hosts/${id}`;
}

export function createHostKeys({ ring, now, log, sendHere, sendForeign }: Options) {
  const hosts = createLru<string, Known>({ max: MAX_HOSTS });

  async function fetchKeys(url: string): Promise<Kept> {
    const send = isOnThisMachine(new URL(url).hostname) ? sendHere : sendForeign;
    try {
      const signal = AbortSignal.timeout(TIMEOUT_MS);
      const answer = await send(new Request(url, { headers: { accept: "application/json" }, signal }));
      const bytes = answer.status === 200 ? await readBytes(answer.body, MAX_BYTES, { signal }) : undefined;
      if (!bytes) throw new KeysAway(`status ${answer.status}, or more than ${MAX_BYTES} bytes`);
      const { keys } = jwksSchema.parse(parseJson(new TextDecoder().decode(bytes)));
      return { keys: createLocalJWKSet({ keys }), atMs: now() };
    } catch (error) {
      throw error instanceof KeysAway ? error : new KeysAway(error instanceof Error ? error.message : "unreadable", { cause: error });
    }
  }

  /** One request for all tickets that arrive meanwhile, whatever its result. */
  function ask(url: string): Promise<Kept> {
    const { kept, asking, failed } = hosts.get(url) ?? {};
    if (asking) return asking;
    if (failed && now() - failed.atMs < FAILED_MS) return Promise.reject(failed.error);
    const asked = fetchKeys(url);
    hosts.set(url, { kept, asking: asked });
    asked.then(
      (fresh) => hosts.set(url, { kept: fresh }),
      (error: unknown) => {
        hosts.set(url, { kept, failed: { error, atMs: now() } });
        log.warn({ host: new URL(url).host, err: error }, "the keys of a host page could not be asked for");
      },
    );
    return asked;
  }

  async function keysAt(url: string): Promise<Kept> {
    const { kept } = hosts.get(url) ?? {};
    const keptMs = kept ? now() - kept.atMs : Infinity;
    if (kept && keptMs < KEPT_MS) return kept;
    try {
      return await ask(url);
    } catch (error) {
      if (kept && keptMs < MAX_KEPT_MS) return kept;
      throw error;
    }
  }

  async function verifyByAddress(url: string, ticket: string, options: JWTVerifyOptions): Promise<JWTPayload> {
    const current = await keysAt(url);
    const asked = { ...options, algorithms: ["RS256", "PS256", "ES256", "EdDSA"] };
    try {
      return (await jwtVerify(ticket, current.keys, asked)).payload;
    } catch (error) {
      if (!isCode(error, "ERR_JWKS_NO_MATCHING_KEY") || now() - current.atMs < AGAIN_MS) throw error;
      return (await jwtVerify(ticket, (await ask(url)).keys, asked)).payload;
    }
  }

  async function verifyBySecret(
    host: EmbedHost,
    sealed: Sealed | undefined,
    ticket: string,
    options: JWTVerifyOptions,
  ): Promise<JWTPayload> {
    const secret = sealed && unseal(ring, recordOfHost(host.id), sealed);
    if (secret === undefined) throw new KeysAway("the ring does not open the secret");
    return (await jwtVerify(ticket, new TextEncoder().encode(secret), { ...options, algorithms: ["HS256"] })).payload;
  }

  return {
    /** Throws jose's errors, and `KeysAway`. */
    async verify(host: EmbedHost, ticket: string, options: JWTVerifyOptions): Promise<JWTPayload> {
      if (host.jwksUrl !== null) return verifyByAddress(host.jwksUrl, ticket, options);
      try {
        return await verifyBySecret(host, host.sealed, ticket, options);
      } catch (error) {
        const old = host.old && host.old.until > now() ? host.old.sealed : undefined;
        if (!old || !isCode(error, "ERR_JWS_SIGNATURE_VERIFICATION_FAILED")) throw error;
        return verifyBySecret(host, old, ticket, options);
      }
    },
  };
}

function isCode(error: unknown, code: string): boolean {
  return codeOf(error) === code;
}
