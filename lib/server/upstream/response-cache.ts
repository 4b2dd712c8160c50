// Shares reads of jobs: concurrent requests with the same rights get one response, and unchanged bytes are not parsed again.

import "server-only";
import { createHash } from "node:crypto";
import { type Failure } from "@/lib/contract/failure";
import { createSharedCalls } from "@/lib/shared/async";
import { createLru } from "@/lib/shared/lru";
import { failed, type Result } from "@/lib/shared/result";
import { createClientGoneFailure } from "./failures";

export const SHARED_MS = 250;
/** Parsed values need several times the memory of their bytes. */
const MAX_PARSED_BYTES = 8 * 1024 ** 2;
/** Short, because a workflow's name in job details may change without a change at the service. */
const NAMES_CACHE_MS = 1000;

type ParsedResponse = { ok: true; value: unknown };
export type ParsedResponses = {
  find(name: string, bytes: Uint8Array): ParsedResponse | undefined;
  set(name: string, bytes: Uint8Array, parsedResponse: ParsedResponse): void;
};
type Outcome = Result<unknown, Failure>;
type SharedRead<T> = (signal: AbortSignal) => Promise<Result<T, Failure>>;
/** A change at `baseUrl` ends the sharing. */
type SharedReadKey = { key: string; baseUrl: string; signal: AbortSignal | undefined };

export type ResponseCache = ReturnType<typeof createResponseCache>;

export function createResponseCache(sharedMs = SHARED_MS) {
  // Failures are not cached, because the next request may succeed.
  const shareCall = createSharedCalls<Outcome>({
    cacheMs: sharedMs,
    shouldCache: ({ ok }) => ok,
    abortedResult: failed(createClientGoneFailure()),
  });
  const parsedValues = createLru<string, { bytes: Uint8Array; response: ParsedResponse }>({
    max: MAX_PARSED_BYTES,
    getSize: ({ bytes }) => bytes.byteLength,
  });
  const changeCounts = new Map<string, number>();
  let globalChangeCount = 0;
  const namedValues = new WeakMap<object, { response: object; changes: number; atMs: number }>();
  const countChanges = (baseUrl: string) => (changeCounts.get(baseUrl) ?? 0) + globalChangeCount;

  /** The call is aborted when all its callers have disconnected. */
  function share<T>(sharedRead: SharedReadKey, read: SharedRead<T>): Promise<Result<T, Failure>>;
  function share({ key, baseUrl, signal }: SharedReadKey, read: SharedRead<unknown>): Promise<Outcome> {
    return shareCall(`${countChanges(baseUrl)} ${key}`, { signal }, read);
  }

  return {
    share,

    /** Returns the parsed values of one API key, because masking depends on the key. */
    getParsedResponses(connectionId: string, apiKey: string | undefined): ParsedResponses {
      const accessKey = createHash("sha256")
        .update(`${connectionId} ${apiKey ?? ""}`)
        .digest("base64");
      return {
        find(name, bytes) {
          const cachedValue = parsedValues.get(`${accessKey} ${name}`);
          return cachedValue && Buffer.compare(cachedValue.bytes, bytes) === 0 ? cachedValue.response : undefined;
        },
        set: (name, bytes, parsedResponse) => parsedValues.set(`${accessKey} ${name}`, { bytes, response: parsedResponse }),
      };
    },

    getNamed(value: object, baseUrl: string): object | undefined {
      const cachedValue = namedValues.get(value);
      return cachedValue && cachedValue.changes === countChanges(baseUrl) && performance.now() - cachedValue.atMs < NAMES_CACHE_MS
        ? cachedValue.response
        : undefined;
    },
    /** `version` is the result of `getVersion` before the names were read. */
    setNamed(value: object, version: number, result: object): void {
      namedValues.set(value, { response: result, changes: version, atMs: performance.now() });
    },
    /** Returns a number that increases with each change at `baseUrl`. */
    getVersion: countChanges,

    /** Without a `baseUrl`, names may have changed on every connection. */
    invalidate(baseUrl?: string): void {
      if (baseUrl === undefined) globalChangeCount += 1;
      else changeCounts.set(baseUrl, (changeCounts.get(baseUrl) ?? 0) + 1);
    },
  };
}
