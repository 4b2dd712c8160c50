// Shares reads of jobs: requests with the same rights within a moment get one answer, and unchanged bytes are not parsed again.

import "server-only";
import { createHash } from "node:crypto";
import { type Failure } from "@/lib/contract/failure";
import { createSharedCalls } from "@/lib/shared/async";
import { createLru } from "@/lib/shared/lru";
import { failed, type Result } from "@/lib/shared/result";
import { callerWentAway } from "./failures";

export const SHARED_MS = 250;
/** Values take several times the memory of their bytes. */
const MAX_PARSED_BYTES = 8 * 1024 ** 2;
/** Short, because names may change without a change at the service: a job's details may contain a workflow's name. */
const NAMED_MS = 1000;

type ParsedAnswer = { ok: true; value: unknown };
export type ParsedAnswers = {
  find(name: string, bytes: Uint8Array): ParsedAnswer | undefined;
  keep(name: string, bytes: Uint8Array, parsedAnswer: ParsedAnswer): void;
};
type Outcome = Result<unknown, Failure>;
type ReadAnswerFn<T> = (signal: AbortSignal) => Promise<Result<T, Failure>>;
/** A change at `baseUrl` ends the sharing. */
type SharedReadKey = { key: string; baseUrl: string; signal: AbortSignal | undefined };

export type AnswerCache = ReturnType<typeof createAnswerCache>;

export function createAnswerCache(sharedMs = SHARED_MS) {
  // A failure is not kept: the next request may succeed.
  const calls = createSharedCalls<Outcome>({ keepMs: sharedMs, isKept: ({ ok }) => ok, whenLeft: failed(callerWentAway()) });
  const parsed = createLru<string, { bytes: Uint8Array; read: ParsedAnswer }>({
    max: MAX_PARSED_BYTES,
    sizeOf: ({ bytes }) => bytes.byteLength,
  });
  const changes = new Map<string, number>();
  let changesAnywhere = 0;
  const named = new WeakMap<object, { named: object; changes: number; atMs: number }>();
  const changesOf = (baseUrl: string) => (changes.get(baseUrl) ?? 0) + changesAnywhere;

  /** The call is aborted when all its callers have disconnected. */
  function share<T>(sharedRead: SharedReadKey, read: ReadAnswerFn<T>): Promise<Result<T, Failure>>;
  function share({ key, baseUrl, signal }: SharedReadKey, read: ReadAnswerFn<unknown>): Promise<Outcome> {
    return calls(`${changesOf(baseUrl)} ${key}`, { signal }, read);
  }

  return {
    share,

    /** Values by their bytes. Masking depends on the key. */
    parsedFor(connectionId: string, apiKey: string | undefined): ParsedAnswers {
      const reader = createHash("sha256")
        .update(`${connectionId} ${apiKey ?? ""}`)
        .digest("base64");
      return {
        find(name, bytes) {
          const cached = parsed.get(`${reader} ${name}`);
          return cached && Buffer.compare(cached.bytes, bytes) === 0 ? cached.read : undefined;
        },
        keep: (name, bytes, parsedAnswer) => parsed.set(`${reader} ${name}`, { bytes, read: parsedAnswer }),
      };
    },

    named(value: object, baseUrl: string): object | undefined {
      const cached = named.get(value);
      return cached && cached.changes === changesOf(baseUrl) && performance.now() - cached.atMs < NAMED_MS ? cached.named : undefined;
    },
    /** `version`: of `versionOf`, from before the names were read. */
    keepNamed(value: object, version: number, result: object): void {
      named.set(value, { named: result, changes: version, atMs: performance.now() });
    },
    /** Higher after each change at `baseUrl`. */
    versionOf: changesOf,

    /** Without a `baseUrl`: names may have changed on every connection. */
    changed(baseUrl?: string): void {
      if (baseUrl === undefined) changesAnywhere += 1;
      else changes.set(baseUrl, (changes.get(baseUrl) ?? 0) + 1);
    },
  };
}
