import { writeExactJson } from "@/lib/contract/json/exact-json";
import { generateId } from "../generate-id";
import { type ServiceLog } from "../options";

export type PeerEvents = {
  start(localListeners: LocalListeners): void;
  hasListeners(userId: number): boolean;
  announceListener(userId: number): Promise<void>;
  withdrawListener(userId: number): void;
  /** A pending message with the same `key` is replaced by the next one. */
  notify(recipients: Recipients, message: Message, key?: string): void;
  notifyQueueChanged(userId: number): void;
  stop(): void;
};

export type Message = string | Uint8Array;
export type Recipients = { userId: number; clientId: string | undefined };

export type LocalListeners = {
  listUserIds(): Iterable<number>;
  deliver(recipients: Recipients, message: Message): void;
  notifyQueueChanged(userId: number): void;
};

export function createNoopPeerEvents(): PeerEvents {
  return {
    start: () => undefined,
    hasListeners: () => false,
    announceListener: () => Promise.resolve(),
    withdrawListener: () => undefined,
    notify: () => undefined,
    notifyQueueChanged: () => undefined,
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

export function createJobEvents(countRemainingJobs: (userId: number) => Promise<number>, peerEvents: PeerEvents, log: ServiceLog) {
  const listeners = new Map<number, Set<Listener>>();
  const statusTimers = new Map<number, NodeJS.Timeout>();

  const getStatus = async (userId: number) => ({ status: { exec_info: { queue_remaining: await countRemainingJobs(userId) } } });

  async function sendStatus(userId: number): Promise<void> {
    const text = toMessage("status", await getStatus(userId));
    for (const { notify } of listeners.get(userId) ?? []) notify(text);
  }

  function deliver(recipients: Recipients, message: Message): void {
    for (const listener of listeners.get(recipients.userId) ?? []) if (isRecipient(listener, recipients)) listener.notify(message);
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

  peerEvents.start({ listUserIds: () => listeners.keys(), deliver, notifyQueueChanged: scheduleStatus });

  return {
    async listen(userId: number, clientId: string | undefined, notify: NotifyListener): Promise<() => void> {
      // Messages that arrive while the queue is being counted are sent after the first one.
      const bufferedMessages: Message[] = [];
      const listener: Listener = { clientId, notify: (message) => void bufferedMessages.push(message) };
      const userListeners = listeners.get(userId) ?? new Set();
      listeners.set(userId, userListeners.add(listener));
      const stop = () => {
        userListeners.delete(listener);
        if (userListeners.size > 0 || listeners.get(userId) !== userListeners) return;
        listeners.delete(userId);
        peerEvents.withdrawListener(userId);
      };
      try {
        // Other processes are notified before the first message, so that no later message of a job is missed.
        const [status] = await Promise.all([getStatus(userId), peerEvents.announceListener(userId)]);
        notify(toMessage("status", { ...status, sid: clientId ?? generateId() }));
        for (const message of bufferedMessages) notify(message);
        listener.notify = notify;
        return stop;
      } catch (error) {
        stop();
        throw error;
      }
    },

    hasListeners: ({ userId }: JobRecipients) => listeners.has(userId) || peerEvents.hasListeners(userId),

    notify(recipients: JobRecipients, type: string, data: object): void {
      if (!listeners.has(recipients.userId) && !peerEvents.hasListeners(recipients.userId)) return;
      const text = toMessage(type, data);
      deliver(recipients, text);
      peerEvents.notify(recipients, text, replaceableTypes.has(type) ? `${type} ${recipients.id}` : undefined);
    },

    sendPreview(recipients: JobRecipients, preview: Uint8Array): void {
      deliver(recipients, preview);
      peerEvents.notify(recipients, preview, `preview ${recipients.id}`);
    },

    /** Call this after a job was submitted, cancelled or has ended. Listeners receive the number of remaining jobs after a delay. */
    notifyQueueChanged(userId: number): void {
      scheduleStatus(userId);
      peerEvents.notifyQueueChanged(userId);
    },

    stop(): void {
      peerEvents.stop();
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
