// Verifies tickets of host pages with the host's secret or its published keys. Algorithms come from the settings, never from the ticket.

import "server-only";
import { createLocalJWKSet, type JWTPayload, jwtVerify, type JWTVerifyGetKey, type JWTVerifyOptions } from "jose";
import { z } from "zod";
import { isLocalHost } from "@/lib/contract/embed/embedding";
import { parseJson } from "@/lib/contract/json/parse-json";
import { getErrorCode } from "@/lib/shared/error-codes";
import { createLru } from "@/lib/shared/lru";
import { type KeyRing, unseal } from "../keys/key-ring";
import { type Log } from "../log";
import { type Sealed, toSecretRecordId } from "../store/connections";
import { type EmbedHost } from "../store/embed";
import { type Send } from "../upstream/send";
import { readBytes } from "../upstream/streams";

const CACHE_MS = 10 * 60_000;
/** How long cached keys may be used if new ones can't be fetched. */
const MAX_STALE_MS = 60 * 60_000;
const MIN_REFRESH_INTERVAL_MS = 30_000;
const FAILURE_CACHE_MS = 10_000;
const REQUEST_TIMEOUT_MS = 5000;
const MAX_JWKS_BYTES = 64 * 1024;
const MAX_HOSTS = 100;

const jwksSchema = z.object({ keys: z.array(z.looseObject({ kty: z.string() })).max(100) });
type CachedKeys = { keys: JWTVerifyGetKey; atMs: number };
/** Per URL: the last keys, the pending request, and the last failure. */
type HostState = { cachedKeys?: CachedKeys; pendingKeys?: Promise<CachedKeys>; failure?: { error: unknown; atMs: number } };

class KeysUnavailableError extends Error {
  readonly code = "KEYS_UNAVAILABLE";
}

export type HostKeys = ReturnType<typeof createHostKeys>;
type Options = { keyRing: KeyRing; now: () => number; log: Log; sendLocal: Send; sendForeign: Send };

export function createHostKeys({ keyRing, now, log, sendLocal, sendForeign }: Options) {
  const hostStates = createLru<string, HostState>({ max: MAX_HOSTS });

  async function fetchKeys(url: string): Promise<CachedKeys> {
    const send = isLocalHost(new URL(url).hostname) ? sendLocal : sendForeign;
    try {
      const signal = AbortSignal.timeout(REQUEST_TIMEOUT_MS);
      const response = await send(new Request(url, { headers: { accept: "application/json" }, signal }));
      const bytes = response.status === 200 ? await readBytes(response.body, MAX_JWKS_BYTES, { signal }) : undefined;
      if (!bytes) throw new KeysUnavailableError(`the response has status ${response.status} or more than ${MAX_JWKS_BYTES} bytes`);
      const { keys } = jwksSchema.parse(parseJson(new TextDecoder().decode(bytes)));
      return { keys: createLocalJWKSet({ keys }), atMs: now() };
    } catch (error) {
      throw error instanceof KeysUnavailableError
        ? error
        : new KeysUnavailableError(error instanceof Error ? error.message : "unreadable", { cause: error });
    }
  }

  /** Concurrent tickets share one request. */
  function fetchSharedKeys(url: string): Promise<CachedKeys> {
    const { cachedKeys, pendingKeys, failure } = hostStates.get(url) ?? {};
    if (pendingKeys) return pendingKeys;
    if (failure && now() - failure.atMs < FAILURE_CACHE_MS) return Promise.reject(failure.error);
    const keysPromise = fetchKeys(url);
    hostStates.set(url, { cachedKeys, pendingKeys: keysPromise });
    keysPromise.then(
      (newKeys) => hostStates.set(url, { cachedKeys: newKeys }),
      (error: unknown) => {
        hostStates.set(url, { cachedKeys, failure: { error, atMs: now() } });
        log.warn({ host: new URL(url).host, err: error }, "host key fetch failed");
      },
    );
    return keysPromise;
  }

  async function getKeys(url: string): Promise<CachedKeys> {
    const { cachedKeys } = hostStates.get(url) ?? {};
    const ageMs = cachedKeys ? now() - cachedKeys.atMs : Infinity;
    if (cachedKeys && ageMs < CACHE_MS) return cachedKeys;
    try {
      return await fetchSharedKeys(url);
    } catch (error) {
      if (cachedKeys && ageMs < MAX_STALE_MS) return cachedKeys;
      throw error;
    }
  }

  async function verifyWithKeys(url: string, ticket: string, options: JWTVerifyOptions): Promise<JWTPayload> {
    const currentKeys = await getKeys(url);
    const verifyOptions = { ...options, algorithms: ["RS256", "PS256", "ES256", "EdDSA"] };
    try {
      return (await jwtVerify(ticket, currentKeys.keys, verifyOptions)).payload;
    } catch (error) {
      if (!hasCode(error, "ERR_JWKS_NO_MATCHING_KEY") || now() - currentKeys.atMs < MIN_REFRESH_INTERVAL_MS) throw error;
      return (await jwtVerify(ticket, (await fetchSharedKeys(url)).keys, verifyOptions)).payload;
    }
  }

  async function verifyWithSecret(
    host: EmbedHost,
    sealed: Sealed | undefined,
    ticket: string,
    options: JWTVerifyOptions,
  ): Promise<JWTPayload> {
    const secret = sealed && unseal(keyRing, toSecretRecordId("embed_hosts", host.id), sealed);
    if (secret === undefined) throw new KeysUnavailableError("no encryption key can decrypt the stored secret");
    return (await jwtVerify(ticket, new TextEncoder().encode(secret), { ...options, algorithms: ["HS256"] })).payload;
  }

  return {
    /** Throws jose's errors and `KeysUnavailableError`. */
    async verify(host: EmbedHost, ticket: string, options: JWTVerifyOptions): Promise<JWTPayload> {
      if (host.jwksUrl !== null) return verifyWithKeys(host.jwksUrl, ticket, options);
      try {
        return await verifyWithSecret(host, host.sealed, ticket, options);
      } catch (error) {
        const previousSecret = host.old && host.old.until > now() ? host.old.sealed : undefined;
        if (!previousSecret || !hasCode(error, "ERR_JWS_SIGNATURE_VERIFICATION_FAILED")) throw error;
        return verifyWithSecret(host, previousSecret, ticket, options);
      }
    },
  };
}

function hasCode(error: unknown, code: string): boolean {
  return getErrorCode(error) === code;
}
