// Polls a console URL. Components share one request per URL. Polling pauses on hidden pages and backs off after failures.

import { useEffect, useRef, useState } from "react";
import useSWR, { type SWRConfiguration, useSWRConfig } from "swr";
import { type Failure } from "@/lib/contract/failure";
import { type Result } from "@/lib/shared/result";
import { callApi } from "../api";
import { type ApiFailure, failureOfThrown, isFailure } from "../read-failure";
import { type Motion, nextPollMs, retryPollMs } from "./poll-plan";

const LOOK_MS = 2_000;
/** A busy or throttled page seems to have slept, too; one more request does no harm. */
const ASLEEP_MS = 10_000;

const listeners = new Map<string, Set<() => void>>();
let timer: ReturnType<typeof setInterval> | undefined;
let lookedMs = 0;

function look(): void {
  const nowMs = Date.now();
  const sleptMs = nowMs - lookedMs;
  lookedMs = nowMs;
  if (sleptMs < ASLEEP_MS || document.visibilityState === "hidden") return;
  for (const [notify] of listeners.values()) notify?.();
}

/** `about` names what the listener does; returns how to stop. */
function onWake(about: string, listener: () => void): () => void {
  const others = listeners.get(about) ?? new Set();
  listeners.set(about, others.add(listener));
  if (!timer) {
    lookedMs = Date.now();
    timer = setInterval(look, LOOK_MS);
  }
  return () => {
    others.delete(listener);
    if (others.size === 0) listeners.delete(about);
    if (listeners.size > 0 || !timer) return;
    clearInterval(timer);
    timer = undefined;
  };
}

type Ask = () => Promise<unknown>;
type SharedWait = { asks: Set<Ask>; timer: ReturnType<typeof setTimeout> | undefined; dueMs: number };

const waits = new Map<string, SharedWait>();

/** Returns how to stop waiting. */
function waitTogether(query: string, ms: number, ask: Ask): () => void {
  const wait: SharedWait = waits.get(query) ?? { asks: new Set(), timer: undefined, dueMs: Number.POSITIVE_INFINITY };
  waits.set(query, wait);
  wait.asks.add(ask);
  if (Date.now() + ms < wait.dueMs) arm(query, wait, ms);
  return () => {
    wait.asks.delete(ask);
    if (wait.asks.size > 0) return;
    clearTimeout(wait.timer);
    if (waits.get(query) === wait) waits.delete(query);
  };
}

function arm(query: string, wait: SharedWait, ms: number): void {
  clearTimeout(wait.timer);
  wait.dueMs = Date.now() + ms;
  wait.timer = setTimeout(() => {
    wait.dueMs = Number.POSITIVE_INFINITY;
    const [ask] = wait.asks;
    const isSeen = document.visibilityState !== "hidden";
    const request = isSeen && ask ? ask() : Promise.resolve();
    void request.finally(() => {
      // After a new response, the component has already scheduled the next request.
      if (wait.asks.size > 0 && wait.dueMs === Number.POSITIVE_INFINITY) arm(query, wait, ms);
    });
  }, ms);
}

type RetryWait = { atMs: number; isNamed: boolean; wake: () => void };

const ofCaches = new WeakMap<object, Map<string, RetryWait>>();

/** `cache` is SWR's: parts that share answers share waits. */
function waitsOf(cache: object): Map<string, RetryWait> {
  const waits = ofCaches.get(cache) ?? new Map<string, RetryWait>();
  ofCaches.set(cache, waits);
  return waits;
}

/** After a failure. `isNamed`: the service gave the wait. `ask` is not called if the path has answered in the meantime. */
function retryIn(cache: object, path: string, { waitMs, isNamed }: { waitMs: number; isNamed: boolean }, ask: () => void): void {
  const waits = waitsOf(cache);
  let isOver = false;
  const wake = () => {
    if (isOver) return;
    isOver = true;
    ask();
  };
  waits.set(path, { atMs: Date.now() + waitMs, isNamed, wake });
  const look = () => {
    const wait = waits.get(path);
    if (isOver) return;
    const restMs = wait ? wait.atMs - Date.now() : 0;
    if (restMs > 0) setTimeout(look, restMs);
    else if (wait) wake();
  };
  setTimeout(look, waitMs);
}

/** After an answer. If the path had failed before, its connection is back: all other paths of that connection are asked now. */
function endRetries(cache: object, path: string): void {
  const waits = waitsOf(cache);
  if (!waits.delete(path)) return;
  for (const [other, { isNamed, wake }] of [...waits]) if (!isNamed && connectionOf(other) === connectionOf(path)) wake();
}

function connectionOf(path: string): string {
  return /[?&]connection=([^&#]*)/.exec(path)?.[1] ?? "";
}

/** The only path polled after the session ends: it succeeds again after a sign-in in another tab. */
export const SESSION_PATH = "/api/console/session";
let hasSessionEnded = false;

/** Set by the session banner. While true, all other polling pauses. Returns whether the session was restored. */
export function setSessionEnded(hasEnded: boolean): boolean {
  const isBack = hasSessionEnded && !hasEnded;
  hasSessionEnded = hasEnded;
  return isBack;
}

export function isSessionOver(): boolean {
  return hasSessionEnded;
}

/** Returns whether the service's Retry-After is still running, or the session has ended. */
function mustWait(cache: object, path: string): boolean {
  if (hasSessionEnded && path !== SESSION_PATH) return true;
  const wait = waitsOf(cache).get(path);
  return wait !== undefined && wait.isNamed && wait.atMs > Date.now();
}

const MIN_MS = 500;

export type Stamped<T> = { value: T; atMs: number };

type PollOptions<Answer, T> = {
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
    dedupingInterval: MIN_MS,
    focusThrottleInterval: MIN_MS,
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
