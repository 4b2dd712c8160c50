// Processes that share a PostgreSQL database. Each renews a lease by the database's clock. Others take over the work of an expired one.

import { sql, type SqlBool } from "kysely";
import { z } from "zod";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { newId } from "@/lib/service/new-id";
import { type ServiceLog } from "@/lib/service/options";
import { createPostgresLine } from "@/lib/shared/database/postgres-line";
import { SERVICE_SCHEMA } from "../baseline";
import { createStatement, type Database, type Reader } from "../database";
import { MAX_NOTICE_BYTES, type Processes, type ProcessEvents, type ProcessFacts } from "../processes";

const CHANNEL = "lightdesk_service";
const LEASE_MS = 3000;
const LINGER_MS = 10 * 60_000;
const RENEW_INTERVAL_MS = 500;
const PROCESSES = `${SERVICE_SCHEMA}.processes`;
const isExpiredAt = (moment: string) => `seen_at < ${moment} - interval '${LEASE_MS} milliseconds'`;

type Listener = { channel: string; receive: (payload: unknown, from: string) => void; missed: () => void };
const noticeSchema = z.object({ from: z.string(), channel: z.string(), payload: z.unknown().optional() });
type Notice = z.output<typeof noticeSchema>;

/** The ids of living processes, oldest first, because ids begin with the time. */
export async function listLiveProcesses(database: Reader): Promise<string[]> {
  const rows = await database.rows(
    createStatement<{ id: string }>(`SELECT id FROM processes WHERE NOT (${isExpiredAt("now()")}) ORDER BY id`),
  );
  return rows.map(({ id }) => id);
}

export function createPostgresProcesses(database: Database, url: string, log: ServiceLog): Processes {
  const id = newId();
  const listeners = new Set<Listener>();
  let ownFacts: ProcessFacts = { slots: 0, hasSharedFiles: false };
  let handlers: ProcessEvents | undefined;
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;
  let wasRenewed = true;
  /** While the database was unavailable, no process could renew. The first process that returns waits for the others. */
  let graceUntilMs = Infinity;

  const line = createPostgresLine({
    url,
    channel: CHANNEL,
    receive(text) {
      const notice = readNotice(text);
      if (!notice || notice.from === id) return;
      for (const { channel, receive } of listeners) if (channel === notice.channel) receive(notice.payload, notice.from);
    },
    async setUp() {
      graceUntilMs = performance.now() + LEASE_MS;
      await renew();
    },
    missed() {
      for (const { missed } of listeners) missed();
    },
  });

  async function renew(): Promise<void> {
    const renewedRows = await line.ask<{ others: boolean }>(
      `UPDATE ${PROCESSES} SET seen_at = clock_timestamp(), slots = $2 WHERE id = $1
       RETURNING EXISTS (SELECT 1 FROM ${PROCESSES} WHERE id <> $1 AND ${isExpiredAt("clock_timestamp()")}) AS others`,
      [id, ownFacts.slots],
    );
    const [row] = renewedRows;
    if (row?.others && performance.now() > graceUntilMs) handlers?.othersUnresponsive();
    if (row || isClosed) return;
    const insert = `INSERT INTO ${PROCESSES} (id, seen_at, slots, has_shared_files) VALUES ($1, clock_timestamp(), $2, $3)`;
    await line.ask(`${insert} ON CONFLICT DO NOTHING`, [id, ownFacts.slots, ownFacts.hasSharedFiles]);
    handlers?.onAbandoned();
  }

  async function renewLoop(): Promise<void> {
    const isRenewed = await renew().then(
      () => true,
      () => false,
    );
    if (wasRenewed && !isRenewed) log.warn({}, "service lease renewal failed");
    wasRenewed = isRenewed;
    if (!isClosed) timer = setTimeout(() => void renewLoop(), RENEW_INTERVAL_MS).unref();
  }

  return {
    id,

    async notify(channel, payload, tx) {
      const text = writeExactJson({ from: id, channel, payload } satisfies Notice);
      if (Buffer.byteLength(text) > MAX_NOTICE_BYTES) throw new Error(`a notice of ${channel} is too long`);
      await (tx ?? database).rows(createStatement("SELECT pg_notify(?, ?)", [CHANNEL, text]));
    },

    listen(channel, receive, missed = () => undefined) {
      const listener = { channel, receive, missed };
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },

    live: () => listLiveProcesses(database),

    slots: async (own) => own + (await countLiveSlots(database, id)),

    isNotRunHere: sql<SqlBool>`jobs.holder is distinct from ${id}`,
    lingersMs: LINGER_MS,

    isHolderGone: sql<SqlBool>`not exists (select 1 from processes where processes.id = jobs.holder)`,

    watch: (events) => void (handlers = events),

    async start(facts) {
      ownFacts = facts;
      await line.start();
      timer = setTimeout(() => void renewLoop(), RENEW_INTERVAL_MS).unref();
      const otherProcesses = `SELECT id FROM processes WHERE NOT (${isExpiredAt("now()")}) AND id <> ? AND has_shared_files <> ?`;
      return (await database.row(createStatement(otherProcesses, [id, ownFacts.hasSharedFiles]))) === undefined;
    },

    async removeUnresponsive(tx) {
      const since = performance.now() > graceUntilMs ? isExpiredAt("now()") : "seen_at = '-infinity'";
      const text = `DELETE FROM processes WHERE id <> ? AND ${since} RETURNING id`;
      return (await tx.rows(createStatement<{ id: string }>(text, [id]))).map((process) => process.id);
    },

    async close() {
      isClosed = true;
      clearTimeout(timer);
      // The next process to notice takes over the remaining work. If this update fails, the lease expires later.
      await line.ask(`UPDATE ${PROCESSES} SET seen_at = '-infinity' WHERE id = $1`, [id]).catch(() => undefined);
      await line.close();
    },
  };
}

export async function countLiveSlots(database: Database, excludedId = ""): Promise<number> {
  const text = `SELECT coalesce(sum(slots), 0) AS n FROM processes WHERE NOT (${isExpiredAt("now()")}) AND id <> ?`;
  return (await database.row(createStatement<{ n: number }>(text, [excludedId])))?.n ?? 0;
}

/** Validated, because any user of the database can send notices. */
function readNotice(text: string): Notice | undefined {
  try {
    return noticeSchema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}
