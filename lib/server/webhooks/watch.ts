// Watches connections that have webhooks, and adds a delivery for each event. One process watches a connection at a time. The state is
// stored, so that another process can continue.

import "server-only";
import { randomUUID } from "node:crypto";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { parseJson } from "@/lib/contract/json/parse-json";
import { createLoop } from "@/lib/shared/async";
import { type Feed } from "@/lib/shared/http-types";
import { type Composition, type Webhooks } from "../composition-type";
import { type BackgroundAccess, openForConsole } from "../connections/access";
import { type Webhook } from "../store/webhooks";
import { isEmbedded } from "../upstream/send";
import { createDeliverer, RETRY_PERIOD_MS } from "./deliver";
import { checkConnection, checkFailure, toDeliveries, watchStateSchema } from "./detect-events";

/** How often webhooks are read, because another process may change them. */
const POLL_MS = 5000;
/** Another process takes over after this time. */
const LEASE_MS = 60_000;
const EVENT_WAIT_MS = 200;
/** Minimum pause between checks, even after events. It grows with the duration of a check. */
const MIN_PAUSE_MS = 1000;
const PAUSE_FACTOR = 4;

/** `isStale`: an event arrived during the check. `earliestCheckMs` is the earliest time of the next check. */
type WatchState = { dueMs: number; earliestCheckMs: number; isChecking: boolean; isStale?: boolean; feed?: Feed };

export function createWatcher(composition: Composition, onDeliveries: () => void) {
  const { store, log, now } = composition;
  const holder = randomUUID();
  const stopController = new AbortController();
  const watchStates = new Map<string, WatchState>();
  const checks = new Set<Promise<void>>();
  const loop = createLoop(
    () =>
      checkDue().catch((err: unknown) => {
        log.error({ err }, "webhook watch failed");
        return POLL_MS;
      }),
    stopController.signal,
  );

  async function checkDue(): Promise<number> {
    const webhooks = await store.webhooks.listEnabledByConnection();
    for (const [id, { feed }] of watchStates) {
      if (webhooks.has(id)) continue;
      feed?.stop();
      watchStates.delete(id);
    }
    for (const [id, connectionWebhooks] of webhooks) {
      const watchState = watchStates.get(id) ?? { dueMs: 0, earliestCheckMs: 0, isChecking: false };
      watchStates.set(id, watchState);
      if (watchState.isChecking || watchState.dueMs > performance.now()) continue;
      watchState.isChecking = true;
      watchState.isStale = false;
      const startedMs = performance.now();
      const checkPromise: Promise<void> = check(id, connectionWebhooks, watchState)
        .catch((err: unknown) => {
          if (!stopController.signal.aborted) log.error({ err, connectionId: id }, "webhook watch failed");
          return POLL_MS;
        })
        .then((waitMs) => {
          const endMs = performance.now();
          watchState.isChecking = false;
          watchState.earliestCheckMs = endMs + Math.max(MIN_PAUSE_MS, PAUSE_FACTOR * (endMs - startedMs));
          watchState.dueMs = Math.max(watchState.earliestCheckMs, endMs + (watchState.isStale ? EVENT_WAIT_MS : waitMs));
          checks.delete(checkPromise);
          loop.wake();
        });
      checks.add(checkPromise);
    }
    const delaysMs = [...watchStates.values()].map(({ isChecking, dueMs }) => (isChecking ? POLL_MS : dueMs - performance.now()));
    return Math.max(20, Math.min(POLL_MS, ...delaysMs));
  }

  /** Returns the milliseconds until the next check. */
  async function check(id: string, webhooks: readonly Webhook[], watchState: WatchState): Promise<number> {
    const leasedState = await store.webhooks.acquireWatch(id, { holder, ms: LEASE_MS, now: now() });
    const connection = leasedState === undefined ? undefined : await store.connections.getFor("", id);
    if (leasedState === undefined || !connection) return POLL_MS;
    const previousState = watchStateSchema.safeParse(parseJson(leasedState)).data;
    // Events from before a long downtime are not sent.
    const input = {
      composition,
      webhooks,
      before: previousState && now() - previousState.atMs < RETRY_PERIOD_MS ? previousState : undefined,
      signal: stopController.signal,
    };
    const accessResult = await openForConsole(composition, id);
    if (accessResult.ok) await subscribe(id, accessResult.value, watchState);
    const { state, detectedEvents, waitMs } = await (accessResult.ok
      ? checkConnection(input, accessResult.value)
      : checkFailure(input, connection, accessResult.failure));
    const deliveries = detectedEvents.flatMap((event) => toDeliveries(event, webhooks, now()));
    const newState = writeExactJson(state);
    if (newState !== leasedState) await store.webhooks.recordWatch(id, { holder, state: newState, deliveries, now: now() });
    if (deliveries.length > 0) onDeliveries();
    return waitMs;
  }

  /** Subscribes to the embedded service, which reports each change at once. */
  async function subscribe(id: string, { target, connection }: BackgroundAccess, watchState: WatchState): Promise<void> {
    if (!isEmbedded(connection.baseUrl) || watchState.feed) return;
    const feed = await composition.openFeed(target, undefined, {
      send(message) {
        if (typeof message !== "string" || !/"type": ?"(status|execution_\w+)"/.test(message.slice(0, 100))) return;
        watchState.isStale = true;
        const dueMs = Math.max(watchState.earliestCheckMs, performance.now() + EVENT_WAIT_MS);
        if (watchState.isChecking || watchState.dueMs <= dueMs) return;
        watchState.dueMs = dueMs;
        loop.wake();
      },
      end: () => void (watchState.feed = undefined),
    });
    // The last webhook may have been disabled while the feed opened.
    if (watchStates.get(id) === watchState && !stopController.signal.aborted) watchState.feed = feed;
    else feed?.stop();
  }

  return {
    start: loop.start,
    /** Call after a webhook was created or changed. */
    wake(connectionId: string): void {
      const watchState = watchStates.get(connectionId);
      if (watchState) watchState.dueMs = 0;
      loop.wake();
    },
    async stop(): Promise<void> {
      stopController.abort();
      for (const { feed } of watchStates.values()) feed?.stop();
      await Promise.all([loop.waitForEnd(), ...checks]);
      if (watchStates.size > 0) await store.webhooks.releaseWatches(holder);
    },
  };
}

/** The watcher and the deliverer of one process. */
export function createWebhooks(options: Parameters<typeof createDeliverer>[0]): Webhooks {
  const deliverer = createDeliverer(options);
  let watcher: ReturnType<typeof createWatcher> | undefined;
  let isStopped = false;
  return {
    attempt: deliverer.attempt,
    start(composition) {
      if (isStopped) return;
      watcher = createWatcher(composition, deliverer.wake);
      watcher.start();
      deliverer.start();
    },
    refresh(connectionId) {
      watcher?.wake(connectionId);
      deliverer.wake();
    },
    async stop() {
      isStopped = true;
      await Promise.all([watcher?.stop(), deliverer.stop()]);
    },
  };
}
