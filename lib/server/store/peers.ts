// Coordinates consoles that share a database: notifications between them, and work in progress.

import "server-only";
import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import { createPostgresListener } from "@/lib/shared/database/postgres-listener";
import { type Database } from "./database";

/** Data changed at a service or through a connection. If both are missing, it changed elsewhere in the console. */
export type DataChange = { baseUrl?: string; connectionId?: string };
/** Receives notifications of other processes. Undefined: anything may have changed, because notifications may have been lost. */
export type PeerListener = {
  /** A connection has a different service, key or list, so cached data about it is invalid. */
  onConnection(connectionId: string | undefined): void;
  onData(change: DataChange | undefined): void;
  onError(error: unknown): void;
};

export type Peers = {
  start(listener: PeerListener): Promise<void>;
  notifyChange(connectionId: string): Promise<void>;
  /** Sends the first notification of a burst at once, and the others together. */
  publishData(change: DataChange): void;
  /** Returns a function that ends the work. The caller must call it. */
  startWork(name: string): Promise<() => Promise<void>>;
  isInProgress(name: string): Promise<boolean>;
  close(): Promise<void>;
};

/** Counts this process's work by name, because several requests may do the same work. */
function createWorkCounter() {
  const counts = new Map<string, number>();
  return {
    listNames: () => counts.keys(),
    has: (name: string) => counts.has(name),
    add(name: string): boolean {
      counts.set(name, (counts.get(name) ?? 0) + 1);
      return counts.get(name) === 1;
    },
    remove(name: string): boolean {
      const remainingCount = (counts.get(name) ?? 1) - 1;
      if (remainingCount > 0) counts.set(name, remainingCount);
      return remainingCount <= 0 && counts.delete(name);
    },
  };
}

export function createLocalPeers(): Peers {
  const workCounter = createWorkCounter();
  return {
    start: () => Promise.resolve(),
    notifyChange: () => Promise.resolve(),
    publishData: () => undefined,
    startWork(name) {
      workCounter.add(name);
      return Promise.resolve(() => Promise.resolve(void workCounter.remove(name)));
    },
    isInProgress: (name) => Promise.resolve(workCounter.has(name)),
    close: () => Promise.resolve(),
  };
}

const CHANNEL = "lightdesk_console";
const NOTIFICATION_INTERVAL_MS = 300;
/** Must match the query of `isInProgress`. */
const LOCK_KEY = "hashtextextended('under way: ' || $1, 0)";

export function createPostgresPeers(database: Database, url: string): Peers {
  const processId = randomUUID();
  const workCounter = createWorkCounter();
  let listener: PeerListener | undefined;
  /** Recently sent notifications, and whether each must be sent again. */
  const recentNotifications = new Map<string, boolean>();
  const lockedNames = new Set<string>();
  let lastTask: Promise<unknown> = Promise.resolve();

  const listenConnection = createPostgresListener({
    url,
    channel: CHANNEL,
    onNotification(payload) {
      const [senderId, kind, baseUrl, connectionId] = payload.split(" ");
      if (senderId === processId) return;
      if (kind === "data") listener?.onData({ baseUrl: baseUrl || undefined, connectionId: connectionId || undefined });
      else listener?.onConnection(kind);
    },
    async onConnected() {
      lockedNames.clear();
      for (const name of [...workCounter.listNames()]) await lock(name);
    },
    onMissed() {
      listener?.onConnection(undefined);
      listener?.onData(undefined);
    },
  });

  const notify = (notification: string) => sql`SELECT pg_notify(${CHANNEL}, ${`${processId} ${notification}`})`.execute(database);

  function publish(notification: string): void {
    if (recentNotifications.has(notification)) return void recentNotifications.set(notification, true);
    recentNotifications.set(notification, false);
    notify(notification).catch((error: unknown) => listener?.onError(error));
    setTimeout(() => {
      const isDue = recentNotifications.get(notification);
      recentNotifications.delete(notification);
      if (isDue) publish(notification);
    }, NOTIFICATION_INTERVAL_MS).unref();
  }

  function runInSequence<T>(task: () => Promise<T>): Promise<T> {
    const resultPromise = lastTask.then(task);
    lastTask = resultPromise.catch(() => undefined);
    return resultPromise;
  }

  /** Errors are ignored, because a new connection acquires the locks again. */
  const runOnListenConnection = (text: string, name: string) => listenConnection.query(text, [name]).catch(() => undefined);
  const lock = (name: string) =>
    runInSequence(async () => {
      if (!workCounter.has(name) || lockedNames.has(name)) return;
      lockedNames.add(name);
      await runOnListenConnection(`SELECT pg_advisory_lock_shared(${LOCK_KEY})`, name);
    });
  const unlock = (name: string) =>
    runInSequence(async () => {
      if (!workCounter.has(name) && lockedNames.delete(name))
        await runOnListenConnection(`SELECT pg_advisory_unlock_shared(${LOCK_KEY})`, name);
    });

  return {
    async start(receiver) {
      listener = receiver;
      await listenConnection.start();
    },
    async notifyChange(connectionId) {
      await notify(connectionId);
    },
    publishData: ({ baseUrl = "", connectionId = "" }) => publish(`data ${baseUrl} ${connectionId}`),
    async startWork(name) {
      if (workCounter.add(name)) await lock(name);
      return async () => {
        if (workCounter.remove(name)) await unlock(name);
      };
    },
    async isInProgress(name) {
      if (workCounter.has(name)) return true;
      const { rows } = await sql`
        SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 1 AND mode = 'ShareLock' AND granted
          AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
          AND ((classid::bigint << 32) | objid::bigint) = hashtextextended('under way: ' || ${name}::text, 0)`.execute(database);
      return rows.length > 0;
    },
    close() {
      recentNotifications.clear();
      return listenConnection.close();
    },
  };
}
