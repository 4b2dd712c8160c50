// Processes that share a PostgreSQL database. Each renews a lease by the database's clock. Others take over the work of a process whose lease expired.

import { sql, type SqlBool } from "kysely";
import { z } from "zod";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { generateId } from "@/lib/service/generate-id";
import { type ServiceLog } from "@/lib/service/options";
import { createPostgresListener } from "@/lib/shared/database/postgres-listener";
import { SERVICE_SCHEMA } from "../baseline";
import { createStatement, type Database, type Reader } from "../database";
import { MAX_NOTIFICATION_BYTES, type Processes, type ProcessEvents, type ProcessInfo } from "../processes";

const CHANNEL = "lightdesk_service";
const LEASE_MS = 3000;
const LINGER_MS = 10 * 60_000;
const RENEW_INTERVAL_MS = 500;
const PROCESSES = `${SERVICE_SCHEMA}.processes`;
const isExpiredAt = (time: string) => `seen_at < ${time} - interval '${LEASE_MS} milliseconds'`;

type Listener = { channel: string; onNotification: (payload: unknown, senderId: string) => void; onMissed: () => void };
const notificationSchema = z.object({ from: z.string(), channel: z.string(), payload: z.unknown().optional() });
type PeerNotification = z.output<typeof notificationSchema>;

/** Returns the ids of live processes. Sorted by age, because ids start with the time. */
export async function listLiveProcesses(database: Reader): Promise<string[]> {
  const rows = await database.rows(
    createStatement<{ id: string }>(`SELECT id FROM processes WHERE NOT (${isExpiredAt("now()")}) ORDER BY id`),
  );
  return rows.map(({ id }) => id);
}

export function createPostgresProcesses(database: Database, url: string, log: ServiceLog): Processes {
  const id = generateId();
  const listeners = new Set<Listener>();
  let processInfo: ProcessInfo = { slots: 0, hasSharedFiles: false };
  let handlers: ProcessEvents | undefined;
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;
  let wasRenewed = true;
  /** No process could renew while the database was unavailable. The first one to reconnect waits for the others. */
  let graceUntilMs = Infinity;

  const postgresListener = createPostgresListener({
    url,
    channel: CHANNEL,
    onNotification(text) {
      const notification = parseNotification(text);
      if (!notification || notification.from === id) return;
      for (const { channel, onNotification } of listeners)
        if (channel === notification.channel) onNotification(notification.payload, notification.from);
    },
    async onConnected() {
      graceUntilMs = performance.now() + LEASE_MS;
      await renew();
    },
    onMissed() {
      for (const { onMissed } of listeners) onMissed();
    },
  });

  async function renew(): Promise<void> {
    const renewedRows = await postgresListener.query<{ others: boolean }>(
      `UPDATE ${PROCESSES} SET seen_at = clock_timestamp(), slots = $2 WHERE id = $1
       RETURNING EXISTS (SELECT 1 FROM ${PROCESSES} WHERE id <> $1 AND ${isExpiredAt("clock_timestamp()")}) AS others`,
      [id, processInfo.slots],
    );
    const [row] = renewedRows;
    if (row?.others && performance.now() > graceUntilMs) handlers?.onPeersUnresponsive();
    if (row || isClosed) return;
    const insertStatement = `INSERT INTO ${PROCESSES} (id, seen_at, slots, has_shared_files) VALUES ($1, clock_timestamp(), $2, $3)`;
    await postgresListener.query(`${insertStatement} ON CONFLICT DO NOTHING`, [id, processInfo.slots, processInfo.hasSharedFiles]);
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
      const text = writeExactJson({ from: id, channel, payload } satisfies PeerNotification);
      if (Buffer.byteLength(text) > MAX_NOTIFICATION_BYTES) throw new Error(`the notification on ${channel} is too long`);
      await (tx ?? database).rows(createStatement("SELECT pg_notify(?, ?)", [CHANNEL, text]));
    },

    listen(channel, onNotification, onMissed = () => undefined) {
      const listener = { channel, onNotification, onMissed };
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },

    listLive: () => listLiveProcesses(database),

    countSlots: async (ownSlots) => ownSlots + (await countLiveSlots(database, id)),

    isRunElsewhere: sql<SqlBool>`jobs.holder is distinct from ${id}`,
    lingerMs: LINGER_MS,

    isHolderMissing: sql<SqlBool>`not exists (select 1 from processes where processes.id = jobs.holder)`,

    watch: (events) => void (handlers = events),

    async start(info) {
      processInfo = info;
      await postgresListener.start();
      timer = setTimeout(() => void renewLoop(), RENEW_INTERVAL_MS).unref();
      const otherProcesses = `SELECT id FROM processes WHERE NOT (${isExpiredAt("now()")}) AND id <> ? AND has_shared_files <> ?`;
      return (await database.row(createStatement(otherProcesses, [id, processInfo.hasSharedFiles]))) === undefined;
    },

    async removeUnresponsive(tx) {
      const expiredCondition = performance.now() > graceUntilMs ? isExpiredAt("now()") : "seen_at = '-infinity'";
      const text = `DELETE FROM processes WHERE id <> ? AND ${expiredCondition} RETURNING id`;
      return (await tx.rows(createStatement<{ id: string }>(text, [id]))).map((process) => process.id);
    },

    async close() {
      isClosed = true;
      clearTimeout(timer);
      // Another process takes over the remaining work. If this update fails, the lease expires later.
      await postgresListener.query(`UPDATE ${PROCESSES} SET seen_at = '-infinity' WHERE id = $1`, [id]).catch(() => undefined);
      await postgresListener.close();
    },
  };
}

export async function countLiveSlots(database: Database, excludedId = ""): Promise<number> {
  const text = `SELECT coalesce(sum(slots), 0) AS n FROM processes WHERE NOT (${isExpiredAt("now()")}) AND id <> ?`;
  return (await database.row(createStatement<{ n: number }>(text, [excludedId])))?.n ?? 0;
}

/** Validates the text, because any user of the database can send notifications. */
function parseNotification(text: string): PeerNotification | undefined {
  try {
    return notificationSchema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}
