// A value that the server rendered, kept up to date by asking the console's API again (SWR).
// Guarantees: shows the newer of the server's and the browser's answer; a failure keeps the last value and says since when it is old; a
// hidden page asks nothing; a failed path is asked again by itself, and the first success wakes all paths of its connection.
// Must never: replace a value with an empty one because a request failed.

import { useEffect, useRef, useState } from "react";
import useSWR, { type SWRConfiguration, useSWRConfig } from "swr";
import { type Failure } from "@/lib/contract/failure";
import { type Result } from "@/lib/shared/result";
import { callApi } from "../api";
import { type ApiFailure, failureOfThrown, isFailure } from "../read-failure";
import { onWake } from "./on-wake";
import { type Motion, nextPollMs, retryPollMs } from "./poll-plan";
import { endRetries, mustWait, retryIn } from "./retries";
import { waitTogether } from "./shared-wait";

const SHORTEST_MS = 500;

export type Stamped<T> = { value: T; atMs: number };

export type PollOptions<Answer, T> = {
  /** The value that the server rendered, with the moment it was read. */
  initial?: Stamped<T>;
  /** Why the server could not render a value. */
  initialFailure?: ApiFailure;
  /** Turns the API's answer into the screen's value. Must be a stable function; its code may be loaded with the first answer. */
  read: (answer: Answer) => T | Promise<T>;
  motion: (value: T) => Motion;
  /** If `path` changes back to one that was asked before, its last answer is shown and it is asked again at once. */
  isAskedAnew?: boolean;
};

export type Poll<T> = {
  value: T | undefined;
  /** When `value` was true, in milliseconds since 1970. */
  atMs: number | undefined;
  everyMs: number;
  failure: ApiFailure | undefined;
  isAsking: boolean;
  refresh: () => Promise<void>;
  /** Shows a change at once; the next answer replaces it. */
  patch: (change: (value: T) => T) => void;
};

/** What the server read for a page, as the start of a poll. */
export function initialOf<T>(reading: Result<Stamped<T>, Failure>): Pick<PollOptions<never, T>, "initial" | "initialFailure"> {
  return reading.ok ? { initial: reading.value } : { initialFailure: reading.failure };
}

/** `path`: the API's path with query and connection, also the cache's key; with `undefined` nothing is asked. */
export function usePoll<Answer, T>(
  path: `/${string}` | undefined,
  { initial, initialFailure, read, motion, isAskedAnew = false }: PollOptions<Answer, T>,
): Poll<T> {
  const { cache } = useSWRConfig();
  const isPressed = useRef(false);
  const askedMs = useRef(0);
  const [mountedMs] = useState(() => Date.now());
  const everyMs = (stamped: Stamped<T> | undefined) => nextPollMs(stamped ? motion(stamped.value) : "moving");
  const configuration: SWRConfiguration<Stamped<T>, ApiFailure> = {
    revalidateOnMount: initial === undefined,
    revalidateIfStale: isAskedAnew,
    keepPreviousData: false,
    dedupingInterval: SHORTEST_MS,
    focusThrottleInterval: SHORTEST_MS,
    // Each answer has a moment of its own, so comparing a thousand rows would always find a difference.
    compare: (a, b) => a === b,
    // Coming back to the page, or online, does not shorten a wait that the service asked for; pressing "try again" does.
    isPaused: () => path !== undefined && !isPressed.current && mustWait(cache, path),
    onSuccess: (_answer, key) => endRetries(cache, key),
    onErrorRetry: (failure, key, _configuration, revalidate, { retryCount }) => {
      const { retryAfterMs } = failure;
      const waitMs = retryPollMs(retryCount, { retryAfterMs, tookMs: Date.now() - askedMs.current });
      retryIn(cache, key, { waitMs, isNamed: retryAfterMs !== undefined }, () => {
        // A hidden page asks when it is shown again. If timers of several parts of the page end together, only one request is sent.
        if (document.visibilityState !== "hidden") void revalidate({ retryCount, dedupe: true });
      });
    },
  };
  const { data, error, isValidating, mutate } = useSWR<Stamped<T>, ApiFailure>(
    path,
    (key: `/${string}`) => {
      askedMs.current = Date.now();
      return ask(key, read);
    },
    configuration,
  );
  const newest = data && initial ? (data.atMs >= initial.atMs ? data : initial) : (data ?? initial);
  const waitMs = everyMs(newest);
  const newestMs = newest?.atMs;
  const isFailing = error !== undefined;
  useEffect(() => {
    if (path === undefined) return;
    const ask = () => mutate().catch(passFailure);
    const stopWaking = onWake(path, () => void ask());
    // After a failure, `onErrorRetry` does the waiting.
    const stopWaiting = waitMs > 0 && !isFailing ? waitTogether(path, waitMs, ask) : undefined;
    return () => {
      stopWaking();
      stopWaiting?.();
    };
  }, [path, waitMs, newestMs, isFailing, mutate]);
  return {
    value: newest?.value,
    atMs: newest?.atMs ?? (error || initialFailure ? mountedMs : undefined),
    everyMs: waitMs,
    failure: error ?? (newest ? undefined : initialFailure),
    isAsking: isValidating,
    refresh: async () => {
      isPressed.current = true;
      await mutate().catch(passFailure);
      isPressed.current = false;
    },
    patch: (change) => {
      const current = newest;
      if (current) void mutate({ value: change(current.value), atMs: current.atMs }, { revalidate: false });
    },
  };
}

/** The failure is already in `error`; only an error of another kind is thrown on. */
function passFailure(cause: unknown): void {
  if (!isFailure(cause)) throw cause;
}

async function ask<Answer, T>(path: `/${string}`, read: PollOptions<Answer, T>["read"]): Promise<Stamped<T>> {
  const atMs = Date.now();
  const result = await callApi<Answer>(path);
  if (!result.ok) throw result.failure;
  try {
    return { value: await read(result.value), atMs };
  } catch (cause) {
    throw failureOfThrown(cause);
  }
}
