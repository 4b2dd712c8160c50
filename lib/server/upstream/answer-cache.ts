// Shares reads of jobs: concurrent requests with the same rights get one response, and unchanged bytes are not parsed again.

import "server-only";
import { createHash } from "node:crypto";
import { type Failure } from "@/lib/contract/failure";
import { createSharedCalls } from "@/lib/shared/async";
import { createLru } from "@/lib/shared/lru";
import { failed, type Result } from "@/lib/shared/result";
import { clientGone } from "./failures";

export const SHARED_MS = 250;
/** Parsed values need several times the memory of their bytes. */
const MAX_PARSED_BYTES = 8 * 1024 ** 2;
/** Short, because names may change without a change at the service: job details may contain a workflow's name. */
const NAMES_CACHE_MS = 1000;

type ParsedAnswer = { ok: true; value: unknown };
export type ParsedAnswers = {
  find(name: string, bytes: Uint8Array): ParsedAnswer | undefined;
  keep(name: string, bytes: Uint8Array, parsedAnswer: ParsedAnswer): void;
};
type Outcome = Result<unknown, Failure>;
type SharedRead<T> = (signal: AbortSignal) => Promise<Result<T, Failure>>;
/** A change at `baseUrl` ends the sharing. */
type SharedReadKey = { key: string; baseUrl: string; signal: AbortSignal | undefined };

export type AnswerCache = ReturnType<typeof createAnswerCache>;

export function createAnswerCache(sharedMs = SHARED_MS) {
  // Failures are not cached, because the next request may succeed.
  const calls = createSharedCalls<Outcome>({ keepMs: sharedMs, isKept: ({ ok }) => ok, whenLeft: failed(clientGone()) });
  const parsedValues = createLru<string, { bytes: Uint8Array; read: ParsedAnswer }>({
    max: MAX_PARSED_BYTES,
    sizeOf: ({ bytes }) => bytes.byteLength,
  });
  const changes = new Map<string, number>();
  let changesAnywhere = 0;
  const namedValues = new WeakMap<object, { named: object; changes: number; atMs: number }>();
  const countChanges = (baseUrl: string) => (changes.get(baseUrl) ?? 0) + changesAnywhere;

  /** The call is aborted when all its callers have disconnected. */
  function share<T>(sharedRead: SharedReadKey, read: SharedRead<T>): Promise<Result<T, Failure>>;
  function share({ key, baseUrl, signal }: SharedReadKey, read: SharedRead<unknown>): Promise<Outcome> {
    return calls(`${countChanges(baseUrl)} ${key}`, { signal }, read);
  }

  return {
    share,

    /** Parsed values by their bytes, per key, because masking depends on it. */
    parsedFor(connectionId: string, apiKey: string | undefined): ParsedAnswers {
      const reader = createHash("sha256")
        .update(`${connectionId} ${apiKey ?? ""}`)
        .digest("base64");
      return {
        find(name, bytes) {
          const cached = parsedValues.get(`${reader} ${name}`);
          return cached && Buffer.compare(cached.bytes, bytes) === 0 ? cached.read : undefined;
        },
        keep: (name, bytes, parsedAnswer) => parsedValues.set(`${reader} ${name}`, { bytes, read: parsedAnswer }),
      };
    },

    named(value: object, baseUrl: string): object | undefined {
      const cached = namedValues.get(value);
      return cached && cached.changes === countChanges(baseUrl) && performance.now() - cached.atMs < NAMES_CACHE_MS
        ? cached.named
        : undefined;
    },
    /** `version` is the result of `versionOf` from before the names were read. */
    keepNamed(value: object, version: number, result: object): void {
      namedValues.set(value, { named: result, changes: version, atMs: performance.now() });
    },
    /** Increases with each change at `baseUrl`. */
    versionOf: countChanges,

    /** Without a `baseUrl`, names may have changed on every connection. */
    changed(baseUrl?: string): void {
      if (baseUrl === undefined) changesAnywhere += 1;
      else changes.set(baseUrl, (changes.get(baseUrl) ?? 0) + 1);
    },
  };
}
