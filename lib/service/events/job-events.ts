import { writeExactJson } from "@/lib/contract/json/exact-json";
import { newId } from "../new-id";
import { type ServiceLog } from "../options";

export type PeerEvents = {
  start(here: LocalListeners): void;
  hasListeners(userId: number): boolean;
  onListen(userId: number): Promise<void>;
  silent(userId: number): void;
  /** A pending message with the same `key` is replaced by the next one. */
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

/** Coalesces the messages of many cancelled jobs. */
const STATUS_DELAY_MS = 50;

const replaceableTypes = new Set(["progress", "progress_state"]);

export type NotifyListener = (message: Message) => void;
export type JobRecipients = Recipients & { id: string };
type Listener = { clientId: string | undefined; notify: NotifyListener };

export type JobEvents = ReturnType<typeof createJobEvents>;

export function createJobEvents(queueRemaining: (userId: number) => Promise<number>, elsewhere: PeerEvents, log: ServiceLog) {
  const listeners = new Map<number, Set<Listener>>();
  const statusTimers = new Map<number, NodeJS.Timeout>();

  const getStatus = async (userId: number) => ({ status: { exec_info: { queue_remaining: await queueRemaining(userId) } } });

  async function sendStatus(userId: number): Promise<void> {
    const text = toMessage("status", await getStatus(userId));
    for (const { notify } of listeners.get(userId) ?? []) notify(text);
  }

  function deliver(to: Recipients, message: Message): void {
    for (const listener of listeners.get(to.userId) ?? []) if (isRecipient(listener, to)) listener.notify(message);
  }

  function scheduleStatus(userId: number): void {
    if (!listeners.has(userId) || statusTimers.has(userId)) return;
    const timer = setTimeout(() => {
      statusTimers.delete(userId);
      if (!listeners.has(userId)) return;
      sendStatus(userId).catch((error: unknown) => log.warn({ err: error }, "status count failed"));
    }, STATUS_DELAY_MS);
    statusTimers.set(userId, timer);
  }

  elsewhere.start({ users: () => listeners.keys(), deliver, queueChanged: scheduleStatus });

  return {
    async listen(userId: number, clientId: string | undefined, notify: NotifyListener): Promise<() => void> {
      // Messages that arrive while the queue is being counted are sent after the first one.
      const buffered: Message[] = [];
      const listener: Listener = { clientId, notify: (message) => void buffered.push(message) };
      const userListeners = listeners.get(userId) ?? new Set();
      listeners.set(userId, userListeners.add(listener));
      const stop = () => {
        userListeners.delete(listener);
        if (userListeners.size > 0 || listeners.get(userId) !== userListeners) return;
        listeners.delete(userId);
        elsewhere.silent(userId);
      };
      try {
        // Other processes are notified before the first message, so that no later message of a job is missed.
        const [state] = await Promise.all([getStatus(userId), elsewhere.onListen(userId)]);
        notify(toMessage("status", { ...state, sid: clientId ?? newId() }));
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
      const text = toMessage(type, data);
      deliver(to, text);
      elsewhere.notify(to, text, replaceableTypes.has(type) ? `${type} ${to.id}` : undefined);
    },

    show(to: JobRecipients, preview: Uint8Array): void {
      deliver(to, preview);
      elsewhere.notify(to, preview, `preview ${to.id}`);
    },

    /** A job was submitted, cancelled or has ended. Soon afterwards, the user's listeners receive the number of remaining jobs. */
    queueChanged(userId: number): void {
      scheduleStatus(userId);
      elsewhere.queueChanged(userId);
    },

    stop(): void {
      elsewhere.stop();
      for (const timer of statusTimers.values()) clearTimeout(timer);
      statusTimers.clear();
      listeners.clear();
    },
  };
}

function isRecipient(listener: Listener, { clientId }: Recipients): boolean {
  return clientId === undefined || listener.clientId === undefined || listener.clientId === clientId;
}

function toMessage(type: string, data: object): string {
  return writeExactJson({ type, data });
}
