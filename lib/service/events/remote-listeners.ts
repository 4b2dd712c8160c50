// Knows which users have listeners at other processes. Each process reports when a user gets the first listener and when the last one is
// gone, answers processes that have just started, and repeats all of it now and then; reports of an ended process expire.

import { z } from "zod";
import { type Processes } from "../store/processes";

const CHANNEL = "listeners";
const REPEAT_MS = 20_000;
const FORGET_MS = 3 * REPEAT_MS;
/** Users per notice. */
const MOST_USERS = 500;

/** `asks`: the sender has just started, or may have missed something, and wants the whole list. */
const noticeSchema = z.object({
  listened: z.array(z.number()).default([]),
  silent: z.array(z.number()).default([]),
  asks: z.boolean().default(false),
});
type Notice = z.input<typeof noticeSchema>;

export function createRemoteListeners(processes: Processes, users: () => Iterable<number>) {
  /** By user and process: until when the process is believed to have a listener. */
  const believedUntil = new Map<number, Map<string, number>>();
  const timer = setInterval(() => void tellAll().catch(() => undefined), REPEAT_MS).unref(); // the next round tells it

  async function tellAll(asks = false): Promise<void> {
    const all = [...users()];
    for (let from = 0; from < all.length || (asks && from === 0); from += MOST_USERS)
      await processes.tell(CHANNEL, { listened: all.slice(from, from + MOST_USERS), ...(asks && from === 0 && { asks }) } satisfies Notice);
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

  const stop = processes.listen(CHANNEL, receive, () => void tellAll(true).catch(() => undefined));
  tellAll(true).catch(() => undefined); // processes with listeners report them again

  return {
    has(userId: number): boolean {
      for (const [processId, until] of believedUntil.get(userId) ?? []) if (until < performance.now()) forget(userId, processId);
      return believedUntil.has(userId);
    },
    listened: (userId: number) => processes.tell(CHANNEL, { listened: [userId] } satisfies Notice),
    silent: (userId: number) => processes.tell(CHANNEL, { silent: [userId] } satisfies Notice),
    stop(): void {
      clearInterval(timer);
      stop();
      believedUntil.clear();
    },
  };
}
