// Timeouts of upstream calls, and detection of unresponsive services.

import "server-only";

/** `touch` restarts the idle timeout. */
export function createDeadline(idleTimeoutMs: number, callerSignal?: AbortSignal | null, totalTimeoutMs = Infinity) {
  const controller = new AbortController();
  const endMs = performance.now() + totalTimeoutMs;
  let hasExpired = false;
  const expire = () => {
    hasExpired = true;
    controller.abort(new Error("Request timed out"));
  };
  let timer: NodeJS.Timeout | undefined = setTimeout(expire, Math.min(idleTimeoutMs, totalTimeoutMs));
  return {
    // Keeps the caller's abort reason, so that an abort isn't reported as an error. Adds no listener to the caller's signal, which may be
    // used for hundreds of calls.
    signal: callerSignal ? AbortSignal.any([controller.signal, callerSignal]) : controller.signal,
    expire,
    touch(): void {
      if (timer === undefined) return;
      clearTimeout(timer);
      timer = setTimeout(expire, Math.min(idleTimeoutMs, endMs - performance.now()));
    },
    /** Stops the timer. The caller's signal can still abort a body that is being read. */
    clear(): void {
      clearTimeout(timer);
      timer = undefined;
    },
    get expired(): boolean {
      return hasExpired;
    },
  };
}

export type ResponseTracker = {
  recordResponse(service: string): void;
  /** Returns a function that ends the read. The caller must call it. */
  startRead(service: string, unresponsiveMs: number, abort: AbortRead): () => void;
};
/** `quietMs` is how long the service was unresponsive. `answered`: another request got a response. */
export type AbortRead = (reason: { quietMs: number } | "answered") => void;

/** While a service is unresponsive, one read keeps the full timeout and one probes it. All others get the short timeout. */
const MAX_FULL_TIMEOUT_READS = 2;
const SHORT_TIMEOUT_MS = 500;

type PendingRead = { startMs: number; abort: AbortRead };
type State = { pendingReads: Set<PendingRead>; lastReplyMs: number; unresponsiveSinceMs?: number; fullTimeoutRead?: PendingRead };

export function createResponseTracker(now: () => number = () => performance.now()): ResponseTracker {
  const states = new Map<string, State>();
  return {
    recordResponse(service) {
      const state = states.get(service);
      if (!state) return;
      state.lastReplyMs = now();
      const wasUnresponsive = state.unresponsiveSinceMs !== undefined;
      state.unresponsiveSinceMs = undefined;
      state.fullTimeoutRead = undefined;
      // A read that has just started may get the next response.
      if (wasUnresponsive)
        for (const { startMs, abort } of [...state.pendingReads]) if (startMs < state.lastReplyMs - SHORT_TIMEOUT_MS) abort("answered");
    },
    startRead(service, unresponsiveMs, abort) {
      const state = states.get(service) ?? { pendingReads: new Set<PendingRead>(), lastReplyMs: -Infinity };
      states.set(service, state);
      const startMs = now();
      const pendingRead: PendingRead = { startMs, abort };
      const hasShortTimeout = state.unresponsiveSinceMs !== undefined && state.pendingReads.size >= MAX_FULL_TIMEOUT_READS;
      let timer: NodeJS.Timeout | undefined;
      const checkResponsiveness = () => {
        const lastActivityMs = Math.max(startMs, state.lastReplyMs);
        const remainingMs = lastActivityMs + (hasShortTimeout && state.lastReplyMs < startMs ? SHORT_TIMEOUT_MS : unresponsiveMs) - now();
        if (remainingMs > 0) return void (timer = setTimeout(checkResponsiveness, remainingMs));
        state.unresponsiveSinceMs ??= lastActivityMs;
        state.fullTimeoutRead ??= pendingRead;
        if (state.fullTimeoutRead !== pendingRead) abort({ quietMs: now() - state.unresponsiveSinceMs });
      };
      checkResponsiveness();
      state.pendingReads.add(pendingRead);
      return () => {
        clearTimeout(timer);
        state.pendingReads.delete(pendingRead);
        if (state.fullTimeoutRead === pendingRead) state.fullTimeoutRead = undefined;
        if (state.pendingReads.size === 0) states.delete(service);
      };
    },
  };
}
