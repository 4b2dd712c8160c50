// Reads a path of the console's API and keeps the value up to date with live updates. Components share one value per path.

import { useState } from "react";
import useSWR, { type SWRConfiguration, useSWRConfig } from "swr";
import useSWRSubscription from "swr/subscription";
import { type Failure } from "@/lib/contract/failure";
import { type Result } from "@/lib/shared/result";
import { callApi } from "../api";
import { type ApiFailure, toFailure } from "../api-failure";
import { type watchLive } from "./live-client";
import { hasSessionEnded, useHasSessionEnded } from "./live-state";
import { type LiveMessage } from "./live-tab";

/** Loads the live client after the page. Tests replace it. */
export const liveModule: { load(): Promise<{ watchLive: typeof watchLive; restartLive: () => void }> } = {
  load: () => import("./live-client"),
};

const DEDUPE_MS = 500;
const INITIAL_RETRY_MS = 1_500;
const MAX_RETRY_MS = 10_000;
/** Polled after the session has ended, because live updates stop. Succeeds again after a sign-in in another tab. */
export const SESSION_PATH = "/api/console/session";

export type TimedValue<T> = { value: T; atMs: number };
/** `failure`: the newest read failed, and the last value is preserved. */
type ReadState<T> = { newest?: TimedValue<T>; failure?: ApiFailure };

type LiveOptions<Data, T> = {
  /** The value that the server rendered, with the time at which it was read. */
  initial?: TimedValue<T>;
  /** The failure that prevented the server from rendering a value. */
  initialFailure?: ApiFailure;
  /** Converts the API's response to the screen's value. May load its code lazily. All components that share a path must use the same conversion. */
  read: (data: Data) => T | Promise<T>;
  /** True if the value can no longer change. */
  isFinal?: (value: T) => boolean;
  /** Reads the first value from the live updates instead of a request. */
  isStreamed?: boolean;
  /** If `path` changes back to an earlier path, its last value is shown and read again at once. */
  revalidateOnReturn?: boolean;
};

export type LiveValue<T> = {
  value: T | undefined;
  /** The time of `value` in milliseconds since 1970. */
  atMs: number | undefined;
  failure: ApiFailure | undefined;
  isValidating: boolean;
  refresh: () => Promise<void>;
  /** Applies an optimistic change, which the next response replaces. */
  patch: (change: (value: T) => T) => void;
};

/** Converts the value that the server read for the page. */
export function toInitialOptions<T>(result: Result<TimedValue<T>, Failure>): Pick<LiveOptions<never, T>, "initial" | "initialFailure"> {
  return result.ok ? { initial: result.value } : { initialFailure: result.failure };
}

function createConfiguration<Data>(path: string | undefined): SWRConfiguration<Data, ApiFailure> {
  return {
    revalidateIfStale: false,
    revalidateOnFocus: false,
    revalidateOnReconnect: false,
    dedupingInterval: DEDUPE_MS,
    compare: Object.is,
    isPaused: () => hasSessionEnded() && path !== SESSION_PATH,
    onErrorRetry: ({ retryAfterMs = 0 }, _key, _configuration, revalidate, { retryCount }) => {
      const waitMs = Math.max(retryAfterMs, Math.min(INITIAL_RETRY_MS * 2 ** Math.max(0, retryCount - 1), MAX_RETRY_MS));
      setTimeout(() => void revalidate({ retryCount, dedupe: true }), waitMs);
    },
  };
}

/**
 * `path`: the API path with query and connection, which is also the cache key. If undefined, nothing is read. A fragment distinguishes two
 * uses of one path and is never sent.
 */
export function useLive<Data, T>(
  path: `/${string}` | undefined,
  { initial, initialFailure, read, isFinal, isStreamed = false, revalidateOnReturn = false }: LiveOptions<Data, T>,
): LiveValue<T> {
  const [mountedMs] = useState(() => Date.now());
  const { data, error, isValidating, mutate } = useSWR<ReadState<T>, ApiFailure>(
    path,
    async (key: `/${string}`) => ({ newest: await fetchValue(key, read) }),
    {
      ...createConfiguration(path),
      revalidateOnMount: initial === undefined && !isStreamed,
      revalidateIfStale: revalidateOnReturn,
    },
  );
  const findNewest = (cachedValue?: TimedValue<T>) =>
    cachedValue && initial ? (cachedValue.atMs >= initial.atMs ? cachedValue : initial) : (cachedValue ?? initial);
  const newest = findNewest(data?.newest);
  const { cache, mutate: mutateKey } = useSWRConfig();
  // The path may have changed before a response is read.
  const handleMessage = async (key: `/${string}`, message: LiveMessage<Data>) => {
    const state = cache.get(key);
    // A mutation would drop the first value, which is still being read and may succeed.
    if ("failure" in message && state?.isValidating && !state.data) return;
    const newState: ReadState<T> =
      "failure" in message
        ? message
        : await readResponse(message.response, read).then(
            (newest) => ({ newest }),
            (failure: ApiFailure) => ({ failure }),
          );
    void mutateKey<ReadState<T>>(key, (previous) => ({ newest: previous?.newest, ...newState }), { revalidate: false });
  };
  const hasEnded = useHasSessionEnded();
  const isWatched = !hasEnded && !(newest && isFinal?.(newest.value));
  useSWRSubscription(path !== undefined && isWatched ? path : null, (key: `/${string}`) =>
    watchPath<Data>(key, (message) => void handleMessage(key, message)),
  );
  return {
    value: newest?.value,
    atMs: newest?.atMs ?? (error || initialFailure ? mountedMs : undefined),
    failure: error ?? data?.failure ?? (newest ? undefined : initialFailure),
    isValidating,
    refresh: () => mutate().then(ignore, ignore),
    patch: (change) => {
      const patchState = (previous?: ReadState<T>) => {
        const current = findNewest(previous?.newest);
        return current ? { newest: { ...current, value: change(current.value) } } : previous;
      };
      // The bound `mutate` would write to the path of a later render.
      if (path !== undefined) void mutateKey<ReadState<T>>(path, patchState, { revalidate: false });
    },
  };
}

/** Reads a value once, without live updates. */
export function useReadOnce<Data, T>(path: `/${string}` | undefined, read: (data: Data) => T | Promise<T>) {
  const { data, error, mutate } = useSWR<TimedValue<T>, ApiFailure>(
    path,
    (key: `/${string}`) => fetchValue(key, read),
    createConfiguration(path),
  );
  return { value: data?.value, failure: error, refresh: () => mutate().then(ignore, ignore) };
}

/** SWR's `error` contains the failure. */
const ignore = () => undefined;

async function fetchValue<Data, T>(path: `/${string}`, read: LiveOptions<Data, T>["read"]): Promise<TimedValue<T>> {
  const result = await callApi<Data>(path);
  if (!result.ok) throw result.failure;
  return readResponse(result.value, read);
}

async function readResponse<Data, T>(data: Data, read: LiveOptions<Data, T>["read"]): Promise<TimedValue<T>> {
  const atMs = Date.now();
  try {
    return { value: await read(data), atMs };
  } catch (cause) {
    throw toFailure(cause);
  }
}

/** Watches a value outside a component. Returns a function that stops watching. */
export function watchPath<Data>(path: `/${string}`, onMessage: Parameters<typeof watchLive<Data>>[1]): () => void {
  let stop: (() => void) | undefined;
  let isStopped = false;
  liveModule.load().then(
    ({ watchLive }) => {
      if (!isStopped) stop = watchLive(path, onMessage);
    },
    (cause: unknown) => onMessage({ failure: toFailure(cause) }),
  );
  return () => {
    isStopped = true;
    stop?.();
  };
}

/** Call after a new sign-in or a new session of an embedded page. */
export async function restartLive(): Promise<void> {
  (await liveModule.load()).restartLive();
}
