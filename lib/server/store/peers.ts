// Consoles that share a database: notifications between them, and work in progress.

import "server-only";
import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import { createPostgresLine } from "@/lib/shared/database/postgres-line";
import { type Database } from "./database";

/** Data changed at a service or through a connection. If both are missing, it changed elsewhere in the console. */
export type DataChange = { baseUrl?: string; connectionId?: string };
/** Receives notices of other processes. Undefined means that anything may have changed, because notices may have been lost. */
export type PeerListener = {
  /** A connection has a different service, key or list, so cached data about it is invalid. */
  onConnection(connectionId: string | undefined): void;
  onData(change: DataChange | undefined): void;
  onError(error: unknown): void;
};

export type Peers = {
  start(listener: PeerListener): Promise<void>;
  notifyChange(connectionId: string): Promise<void>;
  /** The first notice of a burst is sent at once, the others together. */
  publishData(change: DataChange): void;
  /** Returns a function that ends the work, which the caller must call. */
  beginWork(name: string): Promise<() => Promise<void>>;
  isUnderWay(name: string): Promise<boolean>;
  close(): Promise<void>;
};

/** Counts this process's work by name, because several requests may do the same. */
function createWorkCounter() {
  const counts = new Map<string, number>();
  return {
    names: () => counts.keys(),
    has: (name: string) => counts.has(name),
    add(name: string): boolean {
      counts.set(name, (counts.get(name) ?? 0) + 1);
      return counts.get(name) === 1;
    },
    remove(name: string): boolean {
      const remaining = (counts.get(name) ?? 1) - 1;
      if (remaining > 0) counts.set(name, remaining);
      return remaining <= 0 && counts.delete(name);
    },
  };
}

export function createNoPeers(): Peers {
  const work = createWorkCounter();
  return {
    start: () => Promise.resolve(),
    notifyChange: () => Promise.resolve(),
    publishData: () => undefined,
    beginWork(name) {
      work.add(name);
      return Promise.resolve(() => Promise.resolve(void work.remove(name)));
    },
    isUnderWay: (name) => Promise.resolve(work.has(name)),
    close: () => Promise.resolve(),
  };
}

const CHANNEL = "lightdesk_console";
const NOTICE_INTERVAL_MS = 300;
/** Must match `isUnderWay`. */
const LOCK_KEY = "hashtextextended('under way: ' || $1, 0)";

export function createPostgresPeers(database: Database, url: string): Peers {
  const processId = randomUUID();
  const work = createWorkCounter();
  let listener: PeerListener | undefined;
  /** Recently sent notices, and whether each must be sent again. */
  const recentNotices = new Map<string, boolean>();
  const lockedNames = new Set<string>();
  let lastTask: Promise<unknown> = Promise.resolve();

  const line = createPostgresLine({
    url,
    channel: CHANNEL,
    receive(payload) {
      const [from, kind, baseUrl, connectionId] = payload.split(" ");
      if (from === processId) return;
      if (kind === "data") listener?.onData({ baseUrl: baseUrl || undefined, connectionId: connectionId || undefined });
      else listener?.onConnection(kind);
    },
    async setUp() {
      lockedNames.clear();
      for (const name of [...work.names()]) await lock(name);
    },
    missed() {
      listener?.onConnection(undefined);
      listener?.onData(undefined);
    },
  });

  const notify = (notice: string) => sql`SELECT pg_notify(${CHANNEL}, ${`${processId} ${notice}`})`.execute(database);

  function publish(notice: string): void {
    if (recentNotices.has(notice)) return void recentNotices.set(notice, true);
    recentNotices.set(notice, false);
    notify(notice).catch((error: unknown) => listener?.onError(error));
    setTimeout(() => {
      const isDue = recentNotices.get(notice);
      recentNotices.delete(notice);
      if (isDue) publish(notice);
    }, NOTICE_INTERVAL_MS).unref();
  }

  function runInSequence<T>(work: () => Promise<T>): Promise<T> {
    const result = lastTask.then(work);
    lastTask = result.catch(() => undefined);
    return result;
  }

  /** Errors are ignored, because a new connection takes the locks again. */
  const runOnLine = (text: string, name: string) => line.ask(text, [name]).catch(() => undefined);
  const lock = (name: string) =>
    runInSequence(async () => {
      if (!work.has(name) || lockedNames.has(name)) return;
      lockedNames.add(name);
      await runOnLine(`SELECT pg_advisory_lock_shared(${LOCK_KEY})`, name);
    });
  const unlock = (name: string) =>
    runInSequence(async () => {
      if (!work.has(name) && lockedNames.delete(name)) await runOnLine(`SELECT pg_advisory_unlock_shared(${LOCK_KEY})`, name);
    });

  return {
    async start(receiver) {
      listener = receiver;
      await line.start();
    },
    async notifyChange(connectionId) {
      await notify(connectionId);
    },
    publishData: ({ baseUrl = "", connectionId = "" }) => publish(`data ${baseUrl} ${connectionId}`),
    async beginWork(name) {
      if (work.add(name)) await lock(name);
      return async () => {
        if (work.remove(name)) await unlock(name);
      };
    },
    async isUnderWay(name) {
      if (work.has(name)) return true;
      const { rows } = await sql`
        SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 1 AND mode = 'ShareLock' AND granted
          AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
          AND ((classid::bigint << 32) | objid::bigint) = hashtextextended('under way: ' || ${name}::text, 0)`.execute(database);
      return rows.length > 0;
    },
    close() {
      recentNotices.clear();
      return line.close();
    },
  };
}
