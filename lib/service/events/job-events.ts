// Tells listeners (GET /ws), here or at another process, of jobs that wait, run and end, in the family's messages.
// Guarantees: no listener hears of another user's jobs. A job with a client_id is told to listeners of that id and to those without one,
// any other job to all listeners of its user. Without listeners no message is made.
// Must never: hold a job up. A listener takes a message at once, or is ended by the code that added it.

import { writeExactJson } from "@/lib/contract/json/exact-json";
import { newId } from "../new-id";
import { type ServiceLog } from "../options";
import { type Elsewhere, type Message, type Recipients } from "./elsewhere";

/** Long enough for a thousand cancelled jobs to become one message. */
const STATUS_EVERY_MS = 50;

/** Kinds of messages that the next message of the same kind and job makes out of date. */
const isSoonOld = new Set(["progress", "progress_state"]);

export type Tell = (message: Message) => void;
/** Who hears of a job. */
export type Hearers = Recipients & { id: string };
type Listener = { clientId: string | undefined; tell: Tell };

export type JobEvents = ReturnType<typeof createJobEvents>;

export function createJobEvents(queueRemaining: (userId: number) => Promise<number>, elsewhere: Elsewhere, log: ServiceLog) {
  const listeners = new Map<number, Set<Listener>>();
  const due = new Map<number, NodeJS.Timeout>();

  const status = async (userId: number) => ({ status: { exec_info: { queue_remaining: await queueRemaining(userId) } } });

  async function tellStatus(userId: number): Promise<void> {
    const text = message("status", await status(userId));
    for (const { tell } of listeners.get(userId) ?? []) tell(text);
  }

  function deliver(to: Recipients, message: Message): void {
    for (const listener of listeners.get(to.userId) ?? []) if (hears(listener, to)) listener.tell(message);
  }

  function queueChangedHere(userId: number): void {
    if (!listeners.has(userId) || due.has(userId)) return;
    const timer = setTimeout(() => {
      due.delete(userId);
      if (!listeners.has(userId)) return;
      tellStatus(userId).catch((error: unknown) => log.warn({ err: error }, "how many jobs wait could not be told"));
    }, STATUS_EVERY_MS);
    due.set(userId, timer);
  }

  elsewhere.start({ users: () => listeners.keys(), deliver, queueChanged: queueChangedHere });

  return {
    /** The first message is the state of the queue, with the id by which the listener is known. */
    async listen(userId: number, clientId: string | undefined, tell: Tell): Promise<() => void> {
      // Messages that come while the queue is being counted are sent after the first one.
      const held: Message[] = [];
      const listener: Listener = { clientId, tell: (one) => void held.push(one) };
      const all = listeners.get(userId) ?? new Set();
      listeners.set(userId, all.add(listener));
      const stop = () => {
        all.delete(listener);
        if (all.size > 0 || listeners.get(userId) !== all) return;
        listeners.delete(userId);
        elsewhere.silent(userId);
      };
      try {
        // Other processes are told before the first message, so that the listener hears everything about a job that is sent after it.
        const [state] = await Promise.all([status(userId), elsewhere.listened(userId)]);
        tell(message("status", { ...state, sid: clientId ?? newId() }));
        for (const one of held) tell(one);
        listener.tell = tell;
        return stop;
      } catch (error) {
        stop();
        throw error;
      }
    },

    isHeard: ({ userId }: Hearers) => listeners.has(userId) || elsewhere.isHeard(userId),

    tell(hearers: Hearers, type: string, data: object): void {
      if (!listeners.has(hearers.userId) && !elsewhere.isHeard(hearers.userId)) return;
      const text = message(type, data);
      deliver(hearers, text);
      elsewhere.tell(hearers, text, isSoonOld.has(type) ? `${type} ${hearers.id}` : undefined);
    },

    show(hearers: Hearers, preview: Uint8Array): void {
      deliver(hearers, preview);
      elsewhere.tell(hearers, preview, `preview ${hearers.id}`);
    },

    /** A job was submitted, cancelled or has ended: a moment later all of the user's listeners are told how many are left. */
    queueChanged(userId: number): void {
      queueChangedHere(userId);
      elsewhere.queueChanged(userId);
    },

    stop(): void {
      elsewhere.stop();
      for (const timer of due.values()) clearTimeout(timer);
      due.clear();
      listeners.clear();
    },
  };
}

function hears(listener: Listener, { clientId }: Recipients): boolean {
  return clientId === undefined || listener.clientId === undefined || listener.clientId === clientId;
}

function message(type: string, data: object): string {
  return writeExactJson({ type, data });
}
