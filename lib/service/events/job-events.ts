import { writeExactJson } from "@/lib/contract/json/exact-json";
import { newId } from "../new-id";
import { type ServiceLog } from "../options";

export type PeerEvents = {
  start(here: LocalListeners): void;
  hasListeners(userId: number): boolean;
  onListen(userId: number): Promise<void>;
  silent(userId: number): void;
  /** `key`: a message that still waits to be sent is replaced by the next one with the same key. */
  notify(to: Recipients, message: Message, key?: string): void;
  queueChanged(userId: number): void;
  stop(): void;
};

export type Message = string | Uint8Array;
export type Recipients = { userId: number; clientId: string | undefined };

export type LocalListeners = {
  users(): Iterable<number>;
  deliver(to: Recipients, message: Message): void;
  queueChanged(userId: number): void;
};

export function createNoPeerEvents(): PeerEvents {
  return {
    start: () => undefined,
    hasListeners: () => false,
    onListen: () => Promise.resolve(),
    silent: () => undefined,
    notify: () => undefined,
    queueChanged: () => undefined,
    stop: () => undefined,
  };
}

/** Coalesces the messages of a thousand cancelled jobs. */
const STATUS_EVERY_MS = 50;

const replacedByNext = new Set(["progress", "progress_state"]);

export type NotifyListener = (message: Message) => void;
export type JobRecipients = Recipients & { id: string };
type Listener = { clientId: string | undefined; notify: NotifyListener };

export type JobEvents = ReturnType<typeof createJobEvents>;

export function createJobEvents(queueRemaining: (userId: number) => Promise<number>, elsewhere: PeerEvents, log: ServiceLog) {
  const listeners = new Map<number, Set<Listener>>();
  const due = new Map<number, NodeJS.Timeout>();

  const status = async (userId: number) => ({ status: { exec_info: { queue_remaining: await queueRemaining(userId) } } });

  async function sendStatus(userId: number): Promise<void> {
    const text = message("status", await status(userId));
    for (const { notify } of listeners.get(userId) ?? []) notify(text);
  }

  function deliver(to: Recipients, message: Message): void {
    for (const listener of listeners.get(to.userId) ?? []) if (isRecipient(listener, to)) listener.notify(message);
  }

  function queueChangedHere(userId: number): void {
    if (!listeners.has(userId) || due.has(userId)) return;
    const timer = setTimeout(() => {
      due.delete(userId);
      if (!listeners.has(userId)) return;
      sendStatus(userId).catch((error: unknown) => log.warn({ err: error }, "status count failed"));
    }, STATUS_EVERY_MS);
    due.set(userId, timer);
  }

  elsewhere.start({ users: () => listeners.keys(), deliver, queueChanged: queueChangedHere });

  return {
    async listen(userId: number, clientId: string | undefined, notify: NotifyListener): Promise<() => void> {
      // Messages that come while the queue is being counted are sent after the first one.
      const buffered: Message[] = [];
      const listener: Listener = { clientId, notify: (message) => void buffered.push(message) };
      const all = listeners.get(userId) ?? new Set();
      listeners.set(userId, all.add(listener));
      const stop = () => {
        all.delete(listener);
        if (all.size > 0 || listeners.get(userId) !== all) return;
        listeners.delete(userId);
        elsewhere.silent(userId);
      };
      try {
        // Other processes are notified before the first message, so that no later message of a job is missed.
        const [state] = await Promise.all([status(userId), elsewhere.onListen(userId)]);
        notify(message("status", { ...state, sid: clientId ?? newId() }));
        for (const item of buffered) notify(item);
        listener.notify = notify;
        return stop;
      } catch (error) {
        stop();
        throw error;
      }
    },

    hasListeners: ({ userId }: JobRecipients) => listeners.has(userId) || elsewhere.hasListeners(userId),

    notify(to: JobRecipients, type: string, data: object): void {
      if (!listeners.has(to.userId) && !elsewhere.hasListeners(to.userId)) return;
      const text = message(type, data);
      deliver(to, text);
      elsewhere.notify(to, text, replacedByNext.has(type) ? `${type} ${to.id}` : undefined);
    },

    show(to: JobRecipients, preview: Uint8Array): void {
      deliver(to, preview);
      elsewhere.notify(to, preview, `preview ${to.id}`);
    },

    /** A job was submitted, cancelled or has ended: a moment later all of the user's listeners get how many are left. */
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

function isRecipient(listener: Listener, { clientId }: Recipients): boolean {
  return clientId === undefined || listener.clientId === undefined || listener.clientId === clientId;
}

function message(type: string, data: object): string {
  return writeExactJson({ type, data });
}
