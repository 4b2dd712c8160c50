// Consoles that share a PostgreSQL database: each has one listening connection, which holds a lock for all work under way. The server
// releases the locks when that connection ends.
// Guarantees: those of lib/shared/database/postgres-line.ts; a new connection takes the locks of running work again, and listeners are
// notified that they may have missed something. Must never: hold up work for longer than a few seconds.

import "server-only";
import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import { createPostgresLine } from "@/lib/shared/database/postgres-line";
import { type Database } from "../database";
import { createWork, type OnChange, type Peers } from "./peers";

const CHANNEL = "lightdesk_console";
const NUMBER = "hashtextextended('under way: ' || $1, 0)";

export function createPostgresPeers(database: Database, url: string): Peers {
  const own = randomUUID();
  const work = createWork();
  let onChange: OnChange = () => undefined;
  /** The names this connection holds locks for. */
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
