import { z } from "zod";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { type ServiceLog } from "../options";
import { type Database, plainStatement } from "../store/database";
import { MAX_NOTICE_BYTES, type Processes } from "../store/processes";
import { type Here, type Message, type PeerEvents, type Recipients } from "./job-events";

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
  const timer = setInterval(() => void tellAll().catch(() => undefined), REPEAT_MS).unref(); // the next round tells it

  async function tellAll(asks = false): Promise<void> {
    const all = [...users()];
    for (let from = 0; from < all.length || (asks && from === 0); from += MAX_USERS)
      await processes.tell(LISTENERS_CHANNEL, {
        listened: all.slice(from, from + MAX_USERS),
        ...(asks && from === 0 && { asks }),
      } satisfies Notice);
  }

  function receive(notice: unknown, from: string): void {
    const { success, data } = noticeSchema.safeParse(notice);
    // Anyone who may use the database can send anything here.
    if (!success) return;
    const { listened, silent, asks } = data;
    const until = performance.now() + FORGET_MS;
    for (const userId of listened) believedUntil.set(userId, (believedUntil.get(userId) ?? new Map<string, number>()).set(from, until));
    for (const userId of silent) forget(userId, from);
    if (asks) tellAll().catch(() => undefined); // the next round tells it
  }

  function forget(userId: number, processId: string): void {
    const at = believedUntil.get(userId);
    at?.delete(processId);
    if (at?.size === 0) believedUntil.delete(userId);
  }

  const stop = processes.listen(LISTENERS_CHANNEL, receive, () => void tellAll(true).catch(() => undefined));
  tellAll(true).catch(() => undefined); // processes with listeners report them again

  return {
    has(userId: number): boolean {
      for (const [processId, until] of believedUntil.get(userId) ?? []) if (until < performance.now()) forget(userId, processId);
      return believedUntil.has(userId);
    },
    listened: (userId: number) => processes.tell(LISTENERS_CHANNEL, { listened: [userId] } satisfies Notice),
    silent: (userId: number) => processes.tell(LISTENERS_CHANNEL, { silent: [userId] } satisfies Notice),
    stop(): void {
      clearInterval(timer);
      stop();
      believedUntil.clear();
    },
  };
}

const CHANNEL = "job events";
const NOTICE_BYTES = MAX_NOTICE_BYTES - 300;
const MAX_WAITING = 2000;
const MAX_WAITING_BYTES = 16 * 1024 ** 2;
const MAX_EVENT_BYTES = 4 * 1024 ** 2;
const KEEP_MS = 10_000;
const AGAIN_MS = 1000;

/** For user `u` and client `c`: a text, base64 bytes or the id of a long message. With none, the queue has changed. */
const eventSchema = z.object({
  u: z.number(),
  c: z.string().optional(),
  t: z.string().optional(),
  b: z.string().optional(),
  l: z.number().optional(),
  isBytes: z.literal(true).optional(),
});
type Event = z.output<typeof eventSchema>;
type Waiting = { to: Recipients; message: Message | undefined; key: string | undefined; bytes: number };

export function createPostgresPeerEvents(database: Database, processes: Processes, log: ServiceLog): PeerEvents {
  let here: Here | undefined;
  let remoteListeners: ReturnType<typeof createRemoteListeners> | undefined;
  let waiting: Waiting[] = [];
  let waitingBytes = 0;
  let sending = false;
  const missed = new Set<number>();
  let again: NodeJS.Timeout | undefined;
  let sweep: NodeJS.Timeout | undefined;
  let stop = (): void => undefined;

  function add(to: Recipients, message: Message | undefined, key: string | undefined): void {
    if (!remoteListeners?.has(to.userId)) return;
    if (key !== undefined) drop(waiting.findIndex((one) => one.key === key));
    const bytes = message === undefined ? 0 : Buffer.byteLength(message);
    if (bytes > MAX_EVENT_BYTES) missed.add(to.userId);
    else {
      waiting.push({ to, message, key, bytes });
      waitingBytes += bytes;
    }
    if (waiting.length > MAX_WAITING || waitingBytes > MAX_WAITING_BYTES) giveUpWaiting();
    send();
  }

  function drop(at: number): void {
    const [gone] = at < 0 ? [] : waiting.splice(at, 1);
    waitingBytes -= gone?.bytes ?? 0;
  }

  function giveUpWaiting(): void {
    for (const { to } of waiting) missed.add(to.userId);
    waiting = [];
    waitingBytes = 0;
  }

  function send(): void {
    if (sending || again) return;
    sending = true;
    sendAll()
      .catch((error: unknown) => {
        log.warn({ err: error }, "other processes could not be told of jobs");
        giveUpWaiting();
        again = setTimeout(() => {
          again = undefined;
          send();
        }, AGAIN_MS).unref();
      })
      .finally(() => {
        sending = false;
        if (waiting.length > 0 || missed.size > 0) send();
      });
  }

  async function sendAll(): Promise<void> {
    while (waiting.length > 0 || missed.size > 0) {
      const events: Event[] = [];
      const users: number[] = [];
      let bytes = 0;
      for (let next = waiting[0]; next; next = waiting[0]) {
        const event = toEvent(next);
        const size = event ? Buffer.byteLength(writeExactJson(event)) + 1 : 0;
        if (events.length > 0 && (!event || bytes + size > NOTICE_BYTES)) break;
        drop(0);
        users.push(next.to.userId);
        events.push(event ?? (await keepLong(next).catch((error: unknown) => giveUp(users, error))));
        bytes += size;
        if (!event) break;
      }
      if (events.length === 0)
        for (const userId of [...missed].slice(0, 100)) {
          users.push(userId);
          events.push({ u: userId });
          missed.delete(userId);
        }
      await processes.tell(CHANNEL, events).catch((error: unknown) => giveUp(users, error));
    }
  }

  function giveUp(users: readonly number[], error: unknown): never {
    for (const userId of users) missed.add(userId);
    throw error;
  }

  async function keepLong({ to, message }: Waiting): Promise<Event> {
    const body = typeof message === "string" ? Buffer.from(message) : message;
    const kept = plainStatement<{ id: number }>("INSERT INTO long_notices (body) VALUES (?) RETURNING id", [body]);
    const row = await database.row(kept);
    sweep ??= setTimeout(() => {
      sweep = undefined;
      removeOldNotices(database).catch(() => undefined); // removed with the next one, or by the housekeeping
    }, 2 * KEEP_MS).unref();
    return { ...heading(to), l: row?.id ?? 0, ...(typeof message !== "string" && { isBytes: true }) };
  }

  let turn: Promise<void> = Promise.resolve();
  let undelivered = 0;

  function receive(notice: unknown): void {
    // Anyone who may use the database can send anything here.
    for (const event of z.array(eventSchema).safeParse(notice).data ?? []) {
      if (undelivered >= MAX_WAITING) {
        here?.queueChanged(event.u);
        continue;
      }
      undelivered += 1;
      turn = turn.then(() => deliver(event)).finally(() => (undelivered -= 1));
    }
  }

  async function deliver(event: Event): Promise<void> {
    if (!here) return;
    try {
      const message = await messageOf(event);
      if (message === undefined) here.queueChanged(event.u);
      else here.deliver({ userId: event.u, clientId: event.c }, message);
    } catch (error) {
      log.warn({ err: error }, "what another process told of a job could not be read");
      here.queueChanged(event.u);
    }
  }

  /** Undefined: the queue has changed, or the message is gone. */
  async function messageOf({ t, b, l, isBytes }: Event): Promise<Message | undefined> {
    if (t !== undefined) return t;
    if (b !== undefined) return Buffer.from(b, "base64");
    if (l === undefined) return undefined;
    const row = await database.row(
      plainStatement<{ body: string }>("SELECT encode(body, 'base64') AS body FROM long_notices WHERE id = ?", [l]),
    );
    if (!row) return undefined;
    const body = Buffer.from(row.body, "base64");
    return isBytes ? body : body.toString("utf8");
  }

  return {
    start(listeners) {
      here = listeners;
      remoteListeners = createRemoteListeners(processes, listeners.users);
      stop = processes.listen(CHANNEL, receive, () => {
        for (const userId of listeners.users()) listeners.queueChanged(userId);
      });
    },
    hasListeners: (userId) => remoteListeners?.has(userId) ?? false,
    listened: async (userId) => remoteListeners?.listened(userId),
    silent: (userId) => void remoteListeners?.silent(userId).catch(() => undefined), // the others forget it after a while anyway
    tell: add,
    queueChanged: (userId) => add({ userId, clientId: undefined }, undefined, `queue ${userId}`),
    stop() {
      stop();
      remoteListeners?.stop();
      clearTimeout(again);
      clearTimeout(sweep);
      waiting = [];
      missed.clear();
      here = undefined;
    },
  };
}

export async function removeOldNotices(database: Database): Promise<void> {
  await database.rows(plainStatement(`DELETE FROM long_notices WHERE made_at < now() - interval '${KEEP_MS} milliseconds'`));
}

const heading = ({ userId, clientId }: Recipients) => ({ u: userId, ...(clientId !== undefined && { c: clientId }) });

function toEvent({ to, message, bytes }: Waiting): Event | undefined {
  if (bytes > NOTICE_BYTES) return undefined;
  if (message === undefined) return heading(to);
  const event = typeof message === "string" ? { t: message } : { b: Buffer.from(message).toString("base64") };
  const whole = { ...heading(to), ...event };
  return Buffer.byteLength(writeExactJson(whole)) < NOTICE_BYTES ? whole : undefined;
}
