import { z } from "zod";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { type ServiceLog } from "../options";
import { type Database, plainStatement } from "../store/database";
import { MAX_NOTICE_BYTES, type Processes } from "../store/processes";
import { type LocalListeners, type Message, type PeerEvents, type Recipients } from "./job-events";

const LISTENERS_CHANNEL = "listeners";
const REPEAT_MS = 20_000;
const FORGET_MS = 3 * REPEAT_MS;
const MAX_USERS = 500;

const noticeSchema = z.object({
  listened: z.array(z.number()).default([]),
  silent: z.array(z.number()).default([]),
  asks: z.boolean().default(false),
});
type Notice = z.input<typeof noticeSchema>;

function createRemoteListeners(processes: Processes, users: () => Iterable<number>) {
  const believedUntil = new Map<number, Map<string, number>>();
  const timer = setInterval(() => void announceListeners().catch(() => undefined), REPEAT_MS).unref(); // sent again in the next round

  async function announceListeners(isRequest = false): Promise<void> {
    const all = [...users()];
    for (let from = 0; from < all.length || (isRequest && from === 0); from += MAX_USERS)
      await processes.notify(LISTENERS_CHANNEL, {
        listened: all.slice(from, from + MAX_USERS),
        ...(isRequest && from === 0 && { asks: isRequest }),
      } satisfies Notice);
  }

  function receive(notice: unknown, from: string): void {
    const { success, data } = noticeSchema.safeParse(notice);
    // Untrusted: any client of the database can send notices.
    if (!success) return;
    const { listened, silent, asks } = data;
    const until = performance.now() + FORGET_MS;
    for (const userId of listened) believedUntil.set(userId, (believedUntil.get(userId) ?? new Map<string, number>()).set(from, until));
    for (const userId of silent) forget(userId, from);
    if (asks) announceListeners().catch(() => undefined); // sent again in the next round
  }

  function forget(userId: number, processId: string): void {
    const at = believedUntil.get(userId);
    at?.delete(processId);
    if (at?.size === 0) believedUntil.delete(userId);
  }

  const stop = processes.listen(LISTENERS_CHANNEL, receive, () => void announceListeners(true).catch(() => undefined));
  announceListeners(true).catch(() => undefined); // processes with listeners report them again

  return {
    has(userId: number): boolean {
      for (const [processId, until] of believedUntil.get(userId) ?? []) if (until < performance.now()) forget(userId, processId);
      return believedUntil.has(userId);
    },
    listened: (userId: number) => processes.notify(LISTENERS_CHANNEL, { listened: [userId] } satisfies Notice),
    silent: (userId: number) => processes.notify(LISTENERS_CHANNEL, { silent: [userId] } satisfies Notice),
    stop(): void {
      clearInterval(timer);
      stop();
      believedUntil.clear();
    },
  };
}

const CHANNEL = "job events";
const MAX_WAITING = 2000;
const MAX_WAITING_BYTES = 16 * 1024 ** 2;
const MAX_EVENT_BYTES = 4 * 1024 ** 2;
/** A notice also has its channel and sender. */
const MAX_INLINE_BYTES = MAX_NOTICE_BYTES - 500;
const MAX_UNREAD = 100;
const KEEP_MS = 10_000;
const AGAIN_MS = 1000;

/** For user `u` and client `c`: a text or base64 bytes. With none, the queue has changed. */
const eventSchema = z.object({ u: z.number(), c: z.string().optional(), t: z.string().optional(), b: z.string().optional() });
type Event = z.output<typeof eventSchema>;
type PendingMessage = { to: Recipients; message: Message | undefined; key: string | undefined; bytes: number };

/** A notice has a batch of events, or the id of the row of one that is too long. */
export function createPostgresPeerEvents(database: Database, processes: Processes, log: ServiceLog): PeerEvents {
  let here: LocalListeners | undefined;
  let remoteListeners: ReturnType<typeof createRemoteListeners> | undefined;
  let waiting: PendingMessage[] = [];
  let waitingBytes = 0;
  let sending = false;
  const usersWithLostEvents = new Set<number>();
  let again: NodeJS.Timeout | undefined;
  let sweep: NodeJS.Timeout | undefined;
  let stop = (): void => undefined;

  function add(to: Recipients, message: Message | undefined, key: string | undefined): void {
    if (!remoteListeners?.has(to.userId)) return;
    const replaced = key === undefined ? -1 : waiting.findIndex((event) => event.key === key);
    if (replaced >= 0) waitingBytes -= waiting.splice(replaced, 1)[0]?.bytes ?? 0;
    const bytes = message === undefined ? 0 : Buffer.byteLength(message);
    if (bytes > MAX_EVENT_BYTES) usersWithLostEvents.add(to.userId);
    else {
      waiting.push({ to, message, key, bytes });
      waitingBytes += bytes;
    }
    if (waiting.length > MAX_WAITING || waitingBytes > MAX_WAITING_BYTES) dropBatch(takePending());
    send();
  }

  function takePending(): PendingMessage[] {
    const batch = waiting;
    waiting = [];
    waitingBytes = 0;
    return batch;
  }

  function dropBatch(batch: readonly PendingMessage[]): void {
    for (const { to } of batch) usersWithLostEvents.add(to.userId);
  }

  function send(): void {
    if (sending || again) return;
    sending = true;
    sendAll()
      .catch((error: unknown) => {
        log.warn({ err: error }, "job event broadcast failed");
        again = setTimeout(() => {
          again = undefined;
          send();
        }, AGAIN_MS).unref();
      })
      .finally(() => {
        sending = false;
        if (waiting.length > 0 || usersWithLostEvents.size > 0) send();
      });
  }

  async function sendAll(): Promise<void> {
    while (waiting.length > 0 || usersWithLostEvents.size > 0) {
      for (const userId of usersWithLostEvents)
        waiting.push({ to: { userId, clientId: undefined }, message: undefined, key: undefined, bytes: 0 });
      usersWithLostEvents.clear();
      const batch = takePending();
      await sendBatch(batch.map(toEvent)).catch((error: unknown) => {
        dropBatch([...batch, ...takePending()]);
        throw error;
      });
    }
  }

  async function sendBatch(events: readonly Event[]): Promise<void> {
    const body = Buffer.from(writeExactJson(events));
    if (body.byteLength <= MAX_INLINE_BYTES) return processes.notify(CHANNEL, events);
    const insert = plainStatement<{ id: number }>("INSERT INTO long_notices (body) VALUES (?) RETURNING id", [body]);
    await processes.notify(CHANNEL, (await database.row(insert))?.id);
    sweep ??= setTimeout(() => {
      sweep = undefined;
      removeOldNotices(database).catch(() => undefined); // removed with the next one, or by the housekeeping
    }, 2 * KEEP_MS).unref();
  }

  let turn: Promise<void> = Promise.resolve();
  let unread = 0;

  function receive(notice: unknown): void {
    if (unread >= MAX_UNREAD) return notifyAllLocal();
    unread += 1;
    turn = turn
      .then(() => deliver(notice))
      .catch((error: unknown) => {
        log.warn({ err: error }, "peer event invalid");
        notifyAllLocal();
      })
      .finally(() => (unread -= 1));
  }

  function notifyAllLocal(): void {
    for (const userId of here?.users() ?? []) here?.queueChanged(userId);
  }

  async function deliver(notice: unknown): Promise<void> {
    const events = typeof notice === "number" ? await readEvents(notice) : notice;
    if (events === undefined) return notifyAllLocal();
    // Untrusted: any client of the database can write this row.
    for (const { u: userId, c: clientId, t, b } of z.array(eventSchema).parse(events)) {
      const message = b === undefined ? t : Buffer.from(b, "base64");
      if (message === undefined) here?.queueChanged(userId);
      else here?.deliver({ userId, clientId }, message);
    }
  }

  /** Undefined for a row that was removed already. */
  async function readEvents(id: number): Promise<unknown> {
    const text = "SELECT convert_from(body, 'UTF8') AS body FROM long_notices WHERE id = ?";
    const row = await database.row(plainStatement<{ body: string }>(text, [id]));
    return row && JSON.parse(row.body);
  }

  return {
    start(listeners) {
      here = listeners;
      remoteListeners = createRemoteListeners(processes, listeners.users);
      stop = processes.listen(CHANNEL, receive, notifyAllLocal);
    },
    hasListeners: (userId) => remoteListeners?.has(userId) ?? false,
    onListen: async (userId) => remoteListeners?.listened(userId),
    silent: (userId) => void remoteListeners?.silent(userId).catch(() => undefined), // others drop it after a while anyway
    notify: add,
    queueChanged: (userId) => add({ userId, clientId: undefined }, undefined, `queue ${userId}`),
    stop() {
      stop();
      remoteListeners?.stop();
      clearTimeout(again);
      clearTimeout(sweep);
      waiting = [];
      usersWithLostEvents.clear();
      here = undefined;
    },
  };
}

export async function removeOldNotices(database: Database): Promise<void> {
  await database.rows(plainStatement(`DELETE FROM long_notices WHERE made_at < now() - interval '${KEEP_MS} milliseconds'`));
}

function toEvent({ to: { userId, clientId }, message }: PendingMessage): Event {
  return {
    u: userId,
    ...(clientId !== undefined && { c: clientId }),
    ...(typeof message === "string" ? { t: message } : message && { b: Buffer.from(message).toString("base64") }),
  };
}
