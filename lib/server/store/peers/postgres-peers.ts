// Consoles that share a PostgreSQL: each has one connection that listens, and holds a lock for whatever it is in the middle of. The server gives
// the locks back when that connection ends.
// Guarantees: a connection that is lost, or says nothing any more, is made anew, and holds again what is still under way; whoever listens
// hears that something may have been missed. Must never: hold up work for longer than a few seconds.

import "server-only";
import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import { type Client } from "pg";
import { type Database } from "../database";
import { createWork, type HearChange, type Peers } from "./peers";

const CHANNEL = "lightdesk_console";
const CONNECT_MS = 5_000;
const AGAIN_MS = 1_000;
/** So often it is asked whether the line still passes anything. */
const LOOK_EVERY_MS = 15_000;
/** The server notices as soon that a console is cut off, whose locks it then gives back. */
const whenCutOff = "SET tcp_keepalives_idle = 10; SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 3";
const NUMBER = "hashtextextended('under way: ' || $1, 0)";

export function createPostgresPeers(database: Database, url: string): Peers {
  const own = randomUUID();
  const work = createWork();
  let client: Client | undefined;
  let hear: HearChange = () => undefined;
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;
  /** What this connection has a lock for. */
  const locked = new Set<string>();
  /** A client answers one question after the other. */
  let turn: Promise<unknown> = Promise.resolve();

  async function connect(): Promise<Client> {
    const { default: pg } = await import("pg");
    const bounds = { connectionTimeoutMillis: CONNECT_MS, query_timeout: CONNECT_MS, keepAlive: true };
    const made = new pg.Client({ connectionString: url, application_name: "lightdesk", ...bounds });
    // Unheard, it would end the process.
    made.on("error", () => lose(made));
    made.on("end", () => lose(made));
    made.on("notification", ({ payload = "" }) => {
      const [from, connectionId] = payload.split(" ");
      if (from !== own) hear(connectionId);
    });
    try {
      await made.connect();
      await made.query(`${whenCutOff}; LISTEN ${CHANNEL}`);
      client = made;
      locked.clear();
      for (const name of [...work.names()]) await lock(name);
    } catch (error) {
      lose(made);
      throw error;
    }
    if (isClosed) lose(made);
    else timer = setTimeout(() => void look(made), LOOK_EVERY_MS).unref();
    return made;
  }

  async function look(made: Client): Promise<void> {
    try {
      await inTurn(() => made.query("SELECT 1"));
      if (client === made) timer = setTimeout(() => void look(made), LOOK_EVERY_MS).unref();
    } catch {
      lose(made);
    }
  }

  /** Its locks go with it; nothing is asked of it any more. */
  function lose(lost: Client): void {
    void lost.end().catch(() => undefined);
    if (client !== lost) return;
    client = undefined;
    again();
  }

  function again(): void {
    clearTimeout(timer);
    if (isClosed) return;
    timer = setTimeout(() => {
      connect().then(
        () => hear(undefined),
        () => client === undefined && again(),
      );
    }, AGAIN_MS).unref();
  }

  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = turn.then(work);
    turn = done.catch(() => undefined);
    return done;
  }

  /** Where the line is lost, the next one does it. */
  const say = async (asked: Client | undefined, text: string, name: string) => {
    await asked?.query(text, [name]).catch(() => lose(asked));
  };
  const lock = (name: string) =>
    inTurn(async () => {
      if (!work.has(name) || locked.has(name)) return;
      locked.add(name);
      await say(client, `SELECT pg_advisory_lock_shared(${NUMBER})`, name);
    });
  const unlock = (name: string) =>
    inTurn(async () => {
      if (!work.has(name) && locked.delete(name)) await say(client, `SELECT pg_advisory_unlock_shared(${NUMBER})`, name);
    });

  return {
    async start(listen) {
      hear = listen;
      await connect();
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
    async close() {
      isClosed = true;
      clearTimeout(timer);
      const last = client;
      client = undefined;
      await last?.end().catch(() => undefined);
    },
  };
}
