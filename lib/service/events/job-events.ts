// What the service tells of jobs while they wait, run and end, in the family's messages (GET /ws): who listens, here or at another process, and who
// hears what.
// Guarantees: no listener is told of another user's jobs; a job that was submitted with a client_id is told to listeners of that id and to those
// without one, any other job to all of its user; without listeners nothing is made.
// Must never: hold a job up: a listener takes a message at once or is ended by whoever brought it.

import { writeExactJson } from "@/lib/contract/json/exact-json";
import { newId } from "../new-id";
import { type ServiceLog } from "../options";
import { type Elsewhere, type Message, type Recipients } from "./elsewhere";

/** Long enough that a thousand cancelled jobs are one message. */
const STATUS_EVERY_MS = 50;

/** What the next message of its kind of the same job makes old. */
const isSoonOld = new Set(["progress", "progress_state"]);

export type Tell = (message: Message) => void;
/** Of a job: who hears of it. */
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
    /** The first message is the state of the queue, with the id that the listener is known by. */
    async listen(userId: number, clientId: string | undefined, tell: Tell): Promise<() => void> {
      // What is told while the queue is being counted comes after it.
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
        // Others know before the first message, so that all is heard of a job that is sent after it.
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

    /** Something was submitted, cancelled or has ended: all of the user's listeners hear how much is left, a moment later. */
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
