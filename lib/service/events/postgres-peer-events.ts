import { z } from "zod";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { type ServiceLog } from "../options";
import { createStatement, type Database } from "../store/database";
import { MAX_NOTIFICATION_BYTES, type Processes } from "../store/processes";
import { type LocalListeners, type Message, type PeerEvents, type Recipients } from "./job-events";

const LISTENERS_CHANNEL = "listeners";
const REPEAT_MS = 20_000;
const EXPIRY_MS = 3 * REPEAT_MS;
const MAX_USERS = 500;

const noticeSchema = z.object({
  listened: z.array(z.number()).default([]),
  silent: z.array(z.number()).default([]),
  asks: z.boolean().default(false),
});
type Notice = z.input<typeof noticeSchema>;

function createRemoteListeners(processes: Processes, listUserIds: () => Iterable<number>) {
  const expiryByUser = new Map<number, Map<string, number>>();
  const timer = setInterval(() => void announceListeners().catch(() => undefined), REPEAT_MS).unref(); // sent again after REPEAT_MS

  async function announceListeners(isRequest = false): Promise<void> {
    const userIds = [...listUserIds()];
    for (let start = 0; start < userIds.length || (isRequest && start === 0); start += MAX_USERS)
      await processes.notify(LISTENERS_CHANNEL, {
        listened: userIds.slice(start, start + MAX_USERS),
        ...(isRequest && start === 0 && { asks: isRequest }),
      } satisfies Notice);
  }

  function receive(notice: unknown, senderId: string): void {
    const { success, data } = noticeSchema.safeParse(notice);
    // Untrusted, because any client of the database can send notices.
    if (!success) return;
    const { listened, silent, asks } = data;
    const expiry = performance.now() + EXPIRY_MS;
    for (const userId of listened) expiryByUser.set(userId, (expiryByUser.get(userId) ?? new Map<string, number>()).set(senderId, expiry));
    for (const userId of silent) removeListener(userId, senderId);
    if (asks) announceListeners().catch(() => undefined); // sent again after REPEAT_MS
  }

  function removeListener(userId: number, processId: string): void {
    const expiryByProcess = expiryByUser.get(userId);
    expiryByProcess?.delete(processId);
    if (expiryByProcess?.size === 0) expiryByUser.delete(userId);
  }

  const stop = processes.listen(LISTENERS_CHANNEL, receive, () => void announceListeners(true).catch(() => undefined));
  announceListeners(true).catch(() => undefined); // requests the listeners of other processes

  return {
    has(userId: number): boolean {
      for (const [processId, expiry] of expiryByUser.get(userId) ?? []) if (expiry < performance.now()) removeListener(userId, processId);
      return expiryByUser.has(userId);
    },
    announceListener: (userId: number) => processes.notify(LISTENERS_CHANNEL, { listened: [userId] } satisfies Notice),
    withdrawListener: (userId: number) => processes.notify(LISTENERS_CHANNEL, { silent: [userId] } satisfies Notice),
    stop(): void {
      clearInterval(timer);
      stop();
      expiryByUser.clear();
    },
  };
}

const EVENTS_CHANNEL = "job events";
const MAX_PENDING = 2000;
const MAX_PENDING_BYTES = 16 * 1024 ** 2;
const MAX_EVENT_BYTES = 4 * 1024 ** 2;
/** Leaves space for the notice's channel and sender. */
const MAX_INLINE_BYTES = MAX_NOTIFICATION_BYTES - 500;
const MAX_PENDING_NOTICES = 100;
const NOTICE_RETENTION_MS = 10_000;
const RETRY_MS = 1000;

/** For user `u` and client `c`: a text `t` or base64 bytes `b`. Without both, the queue has changed. */
const eventSchema = z.object({ u: z.number(), c: z.string().optional(), t: z.string().optional(), b: z.string().optional() });
type Event = z.output<typeof eventSchema>;
type PendingMessage = { recipients: Recipients; message: Message | undefined; key: string | undefined; bytes: number };

/** A notice contains a batch of events, or the row id of a batch that is too long. */
export function createPostgresPeerEvents(database: Database, processes: Processes, log: ServiceLog): PeerEvents {
  let localListeners: LocalListeners | undefined;
  let remoteListeners: ReturnType<typeof createRemoteListeners> | undefined;
  let pendingMessages: PendingMessage[] = [];
  let pendingBytes = 0;
  let isSending = false;
  const usersWithLostEvents = new Set<number>();
  let retryTimer: NodeJS.Timeout | undefined;
  let sweepTimer: NodeJS.Timeout | undefined;
  let stop = (): void => undefined;

  function enqueue(recipients: Recipients, message: Message | undefined, key: string | undefined): void {
    if (!remoteListeners?.has(recipients.userId)) return;
    const replacedIndex = key === undefined ? -1 : pendingMessages.findIndex((event) => event.key === key);
    if (replacedIndex >= 0) pendingBytes -= pendingMessages.splice(replacedIndex, 1)[0]?.bytes ?? 0;
    const bytes = message === undefined ? 0 : Buffer.byteLength(message);
    if (bytes > MAX_EVENT_BYTES) usersWithLostEvents.add(recipients.userId);
    else {
      pendingMessages.push({ recipients, message, key, bytes });
      pendingBytes += bytes;
    }
    if (pendingMessages.length > MAX_PENDING || pendingBytes > MAX_PENDING_BYTES) dropBatch(drainPending());
    send();
  }

  function drainPending(): PendingMessage[] {
    const batch = pendingMessages;
    pendingMessages = [];
    pendingBytes = 0;
    return batch;
  }

  function dropBatch(batch: readonly PendingMessage[]): void {
    for (const { recipients } of batch) usersWithLostEvents.add(recipients.userId);
  }

  function send(): void {
    if (isSending || retryTimer) return;
    isSending = true;
    sendAll()
      .catch((error: unknown) => {
        log.warn({ err: error }, "job event broadcast failed");
        retryTimer = setTimeout(() => {
          retryTimer = undefined;
          send();
        }, RETRY_MS).unref();
      })
      .finally(() => {
        isSending = false;
        if (pendingMessages.length > 0 || usersWithLostEvents.size > 0) send();
      });
  }

  async function sendAll(): Promise<void> {
    while (pendingMessages.length > 0 || usersWithLostEvents.size > 0) {
      for (const userId of usersWithLostEvents)
        pendingMessages.push({ recipients: { userId, clientId: undefined }, message: undefined, key: undefined, bytes: 0 });
      usersWithLostEvents.clear();
      const batch = drainPending();
      await sendBatch(batch.map(toEvent)).catch((error: unknown) => {
        dropBatch([...batch, ...drainPending()]);
        throw error;
      });
    }
  }

  async function sendBatch(events: readonly Event[]): Promise<void> {
    const body = Buffer.from(writeExactJson(events));
    if (body.byteLength <= MAX_INLINE_BYTES) return processes.notify(EVENTS_CHANNEL, events);
    const insertStatement = createStatement<{ id: number }>("INSERT INTO long_notices (body) VALUES (?) RETURNING id", [body]);
    await processes.notify(EVENTS_CHANNEL, (await database.row(insertStatement))?.id);
    sweepTimer ??= setTimeout(() => {
      sweepTimer = undefined;
      removeOldNotices(database).catch(() => undefined); // retried after the next long notice, or by housekeeping
    }, 2 * NOTICE_RETENTION_MS).unref();
  }

  let lastDelivery: Promise<void> = Promise.resolve();
  let pendingNotices = 0;

  function receive(notice: unknown): void {
    if (pendingNotices >= MAX_PENDING_NOTICES) return notifyAllLocalListeners();
    pendingNotices += 1;
    lastDelivery = lastDelivery
      .then(() => deliver(notice))
      .catch((error: unknown) => {
        log.warn({ err: error }, "peer event invalid");
        notifyAllLocalListeners();
      })
      .finally(() => (pendingNotices -= 1));
  }

  function notifyAllLocalListeners(): void {
    for (const userId of localListeners?.listUserIds() ?? []) localListeners?.notifyQueueChanged(userId);
  }

  async function deliver(notice: unknown): Promise<void> {
    const events = typeof notice === "number" ? await readEvents(notice) : notice;
    if (events === undefined) return notifyAllLocalListeners();
    // Untrusted, because any client of the database can write this row.
    for (const { u: userId, c: clientId, t, b } of z.array(eventSchema).parse(events)) {
      const message = b === undefined ? t : Buffer.from(b, "base64");
      if (message === undefined) localListeners?.notifyQueueChanged(userId);
      else localListeners?.deliver({ userId, clientId }, message);
    }
  }

  /** Returns undefined if the row was already removed. */
  async function readEvents(id: number): Promise<unknown> {
    const text = "SELECT convert_from(body, 'UTF8') AS body FROM long_notices WHERE id = ?";
    const row = await database.row(createStatement<{ body: string }>(text, [id]));
    return row && JSON.parse(row.body);
  }

  return {
    start(listeners) {
      localListeners = listeners;
      remoteListeners = createRemoteListeners(processes, listeners.listUserIds);
      stop = processes.listen(EVENTS_CHANNEL, receive, notifyAllLocalListeners);
    },
    hasListeners: (userId) => remoteListeners?.has(userId) ?? false,
    announceListener: async (userId) => remoteListeners?.announceListener(userId),
    withdrawListener: (userId) => void remoteListeners?.withdrawListener(userId).catch(() => undefined), // it expires anyway
    notify: enqueue,
    notifyQueueChanged: (userId) => enqueue({ userId, clientId: undefined }, undefined, `queue ${userId}`),
    stop() {
      stop();
      remoteListeners?.stop();
      clearTimeout(retryTimer);
      clearTimeout(sweepTimer);
      pendingMessages = [];
      usersWithLostEvents.clear();
      localListeners = undefined;
    },
  };
}

export async function removeOldNotices(database: Database): Promise<void> {
  await database.rows(createStatement(`DELETE FROM long_notices WHERE made_at < now() - interval '${NOTICE_RETENTION_MS} milliseconds'`));
}

function toEvent({ recipients: { userId, clientId }, message }: PendingMessage): Event {
  return {
    u: userId,
    ...(clientId !== undefined && { c: clientId }),
    ...(typeof message === "string" ? { t: message } : message && { b: Buffer.from(message).toString("base64") }),
  };
}
