// What the service tells of jobs while they wait, run and end, in the family's messages (GET /ws): who listens, and who hears what.
// Guarantees: no listener is told of another user's jobs; a job that was submitted with a client_id is told to listeners of that id and to those
// without one, any other job to all of its user; without listeners nothing is made.
// Must never: hold a job up: a listener takes a message at once or is ended by whoever brought it.

import { writeExactJson } from "@/lib/contract/json/exact-json";
import { newId } from "../new-id";
import { type ServiceLog } from "../options";

/** Long enough that a thousand cancelled jobs are one message. */
const STATUS_EVERY_MS = 50;

/** Bytes: a preview, as the family sends it. */
export type Tell = (message: string | Uint8Array) => void;
export type Hearers = { userId: number; clientId: string | undefined };
type Listener = { clientId: string | undefined; tell: Tell };

export type JobEvents = ReturnType<typeof createJobEvents>;

export function createJobEvents(queueRemaining: (userId: number) => Promise<number>, log: ServiceLog) {
  const listeners = new Map<number, Set<Listener>>();
  const due = new Map<number, NodeJS.Timeout>();

  const status = async (userId: number) => ({ status: { exec_info: { queue_remaining: await queueRemaining(userId) } } });

  async function tellStatus(userId: number): Promise<void> {
    const text = message("status", await status(userId));
    for (const { tell } of listeners.get(userId) ?? []) tell(text);
  }

  return {
    /** The first message is the state of the queue, with the id that the listener is known by. */
    async listen(userId: number, clientId: string | undefined, tell: Tell): Promise<() => void> {
      // What is told while the queue is being counted comes after it.
      const held: (string | Uint8Array)[] = [];
      const listener: Listener = { clientId, tell: (one) => void held.push(one) };
      const all = listeners.get(userId) ?? new Set();
      listeners.set(userId, all.add(listener));
      const stop = () => {
        all.delete(listener);
        if (all.size === 0 && listeners.get(userId) === all) listeners.delete(userId);
      };
      try {
        tell(message("status", { ...(await status(userId)), sid: clientId ?? newId() }));
        for (const one of held) tell(one);
        listener.tell = tell;
        return stop;
      } catch (error) {
        stop();
        throw error;
      }
    },

    isHeard: ({ userId }: Hearers) => listeners.has(userId),

    tell({ userId, clientId }: Hearers, type: string, data: object): void {
      const all = listeners.get(userId);
      if (!all) return;
      const text = message(type, data);
      for (const listener of all) if (hears(listener, { clientId })) listener.tell(text);
    },

    show(hearers: Hearers, preview: Uint8Array): void {
      for (const listener of listeners.get(hearers.userId) ?? []) if (hears(listener, hearers)) listener.tell(preview);
    },

    /** Something was submitted, cancelled or has ended: all of the user's listeners hear how much is left, a moment later. */
    queueChanged(userId: number): void {
      if (!listeners.has(userId) || due.has(userId)) return;
      const timer = setTimeout(() => {
        due.delete(userId);
        if (!listeners.has(userId)) return;
        tellStatus(userId).catch((error: unknown) => log.warn({ err: error }, "how many jobs wait could not be told"));
      }, STATUS_EVERY_MS);
      due.set(userId, timer);
    },

    stop(): void {
      for (const timer of due.values()) clearTimeout(timer);
      due.clear();
      listeners.clear();
    },
  };
}

function hears(listener: Listener, { clientId }: Pick<Hearers, "clientId">): boolean {
  return clientId === undefined || listener.clientId === undefined || listener.clientId === clientId;
}

function message(type: string, data: object): string {
  return writeExactJson({ type, data });
}
