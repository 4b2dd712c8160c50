"use client";
// A value that the server rendered, kept true from then on by asking the console's API again (SWR).
// Guarantees: the newer of the server's and the browser's answer is shown; a failure keeps the last value and says since when it is old;
// nothing is asked while the page is hidden.
// Must never: replace a value by an empty one because an answer failed.

import { useCallback, useState } from "react";
import useSWR, { type SWRConfiguration } from "swr";
import { type Failure } from "@/lib/contract/failure";
import { type Result } from "@/lib/shared/result";
import { callApi } from "./api";
import { isLasting, type Motion, nextPollMs, retryPollMs } from "./poll-plan";
import { type ApiFailure, isFailure } from "./read-failure";

export type Stamped<T> = { value: T; atMs: number };

export type PollOptions<Answer, T> = {
  /** What the server already rendered, with the moment it was read. */
  initial?: Stamped<T>;
  /** Why the server could not render it. */
  initialFailure?: ApiFailure;
  /** Makes the screen's value of the API's answer. Must be a stable function. */
  read: (answer: Answer) => T;
  /** Must be a stable function: another one begins the wait anew. */
  motion: (value: T) => Motion;
};

export type Poll<T> = {
  value: T | undefined;
  /** When `value` was true, in milliseconds since 1970. */
  atMs: number | undefined;
  everyMs: number;
  failure: ApiFailure | undefined;
  isAsking: boolean;
  refresh: () => Promise<void>;
  /** Shows a change at once; the next answer has the last word. */
  patch: (change: (value: T) => T) => void;
};

/** The server's reading of a page, as what a poll begins with. */
export function initialOf<T>(reading: Result<Stamped<T>, Failure>): Pick<PollOptions<never, T>, "initial" | "initialFailure"> {
  return reading.ok ? { initial: reading.value } : { initialFailure: reading.failure };
}

/** `path` is the API's path with query and connection, and the cache's key; `undefined` asks nothing. */
export function usePoll<Answer, T>(
  path: `/${string}` | undefined,
  { initial, initialFailure, read, motion }: PollOptions<Answer, T>,
): Poll<T> {
  const [mountedMs] = useState(() => Date.now());
  const isHopeless = initialFailure !== undefined && isLasting(initialFailure.status);
  const everyMs = useCallback(
    (stamped: Stamped<T> | undefined) => nextPollMs(stamped ? motion(stamped.value) : isHopeless ? "final" : "moving"),
    [motion, isHopeless],
  );
  // Stable: SWR begins the wait anew with every new function, and a page that is drawn more often than that would never ask.
  const refreshInterval = useCallback((latest: Stamped<T> | undefined) => everyMs(latest ?? initial), [everyMs, initial]);
  const configuration: SWRConfiguration<Stamped<T>, ApiFailure> = {
    refreshInterval,
    revalidateOnMount: initial === undefined && !isHopeless,
    revalidateIfStale: false,
    keepPreviousData: false,
    dedupingInterval: 500,
    // Each answer has a moment of its own; to compare a thousand rows word by word would only find that.
    compare: (a, b) => a === b,
    onErrorRetry: (failure, _key, _configuration, revalidate, { retryCount }) => {
      if (isLasting(failure.status)) return;
      setTimeout(() => void revalidate({ retryCount }), retryPollMs(retryCount, failure.retryAfterMs));
    },
  };
  const { data, error, isValidating, mutate } = useSWR<Stamped<T>, ApiFailure>(path, (key: `/${string}`) => ask(key, read), configuration);
  const newest = data && initial ? (data.atMs >= initial.atMs ? data : initial) : (data ?? initial);
  return {
    value: newest?.value,
    atMs: newest?.atMs ?? (error || initialFailure ? mountedMs : undefined),
    everyMs: everyMs(newest),
    failure: error ?? (newest ? undefined : initialFailure),
    isAsking: isValidating,
    refresh: async () => {
      await mutate().catch((cause: unknown) => {
        // The failure is already in `error`; only what is not one may pass.
        if (!isFailure(cause)) throw cause;
      });
    },
    patch: (change) => {
      const current = newest;
      if (current) void mutate({ value: change(current.value), atMs: current.atMs }, { revalidate: false });
    },
  };
}

async function ask<Answer, T>(path: `/${string}`, read: (answer: Answer) => T): Promise<Stamped<T>> {
  const atMs = Date.now();
  const result = await callApi<Answer>(path);
  if (!result.ok) throw result.failure;
  return { value: read(result.value), atMs };
}
