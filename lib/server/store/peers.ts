// Consoles that share a database: notifications between them, and work in progress.

import "server-only";
import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import { createPostgresLine } from "@/lib/shared/database/postgres-line";
import { type Database } from "./database";

/** A connection got another service, key or list: forget what is known of it. Undefined: any, as a notice may have been missed. */
type OnChange = (connectionId: string | undefined) => void;

export type Peers = {
  start(onChange: OnChange): Promise<void>;
  tellChange(connectionId: string): Promise<void>;
  /** Returns the function that ends the work; the caller must call it. */
  beginWork(name: string): Promise<() => Promise<void>>;
  isUnderWay(name: string): Promise<boolean>;
  close(): Promise<void>;
};

/** The work of this process, counted by name: several requests may do the same. */
function createWork() {
  const counts = new Map<string, number>();
  return {
    names: () => counts.keys(),
    has: (name: string) => counts.has(name),
    add(name: string): boolean {
      counts.set(name, (counts.get(name) ?? 0) + 1);
      return counts.get(name) === 1;
    },
    remove(name: string): boolean {
      const left = (counts.get(name) ?? 1) - 1;
      if (left > 0) counts.set(name, left);
      return left <= 0 && counts.delete(name);
    },
  };
}

export function createNoPeers(): Peers {
  const work = createWork();
  return {
    start: () => Promise.resolve(),
    tellChange: () => Promise.resolve(),
    beginWork(name) {
      work.add(name);
      return Promise.resolve(() => Promise.resolve(void work.remove(name)));
    },
    isUnderWay: (name) => Promise.resolve(work.has(name)),
    close: () => Promise.resolve(),
  };
}

const CHANNEL = "lightdesk_console";
const NUMBER = "hashtextextended('under way: ' || $1, 0)";

export function createPostgresPeers(database: Database, url: string): Peers {
  const own = randomUUID();
  const work = createWork();
  let onChange: OnChange = () => undefined;
  const locked = new Set<string>();
  let turn: Promise<unknown> = Promise.resolve();

  const line = createPostgresLine({
    url,
    channel: CHANNEL,
    receive(payload) {
      const [from, connectionId] = payload.split(" ");
      if (from !== own) onChange(connectionId);
    },
    async setUp() {
      locked.clear();
      for (const name of [...work.names()]) await lock(name);
    },
    missed: () => onChange(undefined),
  });

  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = turn.then(work);
    turn = done.catch(() => undefined);
    return done;
  }

  /** If the connection is lost, the next one takes the locks. */
  const say = (text: string, name: string) => line.ask(text, [name]).catch(() => undefined);
  const lock = (name: string) =>
    inTurn(async () => {
      if (!work.has(name) || locked.has(name)) return;
      locked.add(name);
      await say(`SELECT pg_advisory_lock_shared(${NUMBER})`, name);
    });
  const unlock = (name: string) =>
    inTurn(async () => {
      if (!work.has(name) && locked.delete(name)) await say(`SELECT pg_advisory_unlock_shared(${NUMBER})`, name);
    });

  return {
    async start(listen) {
      onChange = listen;
      await line.start();
    },
    async tellChange(connectionId) {
      await sql`SELECT pg_notify(${CHANNEL}, ${`${own} ${connectionId}`})`.execute(database);
    },
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
    close: () => line.close(),
  };
}
