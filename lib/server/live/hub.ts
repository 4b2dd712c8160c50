// Live updates of one process. All viewers with the same rights share one reader per topic, and all topics share one event sequence.

import "server-only";
import { createHash, randomBytes } from "node:crypto";
import { createFailure, type Failure } from "@/lib/contract/failure";
import { type LiveProgress, type TopicName } from "@/lib/contract/live";
import { failed, ok, type Result } from "@/lib/shared/result";
import { type Log, toFailure } from "../log";
import { type DataChange } from "../store/peers";
import { createReader, isExpensiveTopic, type LiveItem, type LiveRead, type Reader } from "./reader";

const LINGER_MS = 10_000;
const MAX_READERS = 2000;
const MAX_READERS_PER_MEMBER = 128;
const MAX_CACHED_CHARS = 256 * 1024 ** 2;
const MAX_CACHED_CHARS_PER_MEMBER = 64 * 1024 ** 2;
const MAX_STREAMS = 1000;
const MAX_STREAMS_PER_MEMBER = 20;

const TOPIC_HASH_LENGTH = 6;
const topicHashPattern = new RegExp(`.{${TOPIC_HASH_LENGTH}}`, "g");
const limitExceeded = failed(createFailure("SERVICE_UNAVAILABLE", "Too many live updates. Try again later."));

/** `jobId` is the job with new progress, or undefined if anything may have changed. */
type OnProgress = (jobId: string | undefined) => void;
type Source = { hasChangeEvents(): boolean; getProgress(jobId: string, nodesTotal: unknown): LiveProgress | undefined; stop(): void };

/** A topic with the rights of one viewer. Viewers with the same rights share a `key`. */
export type Watch = {
  name: TopicName;
  key: string;
  connection: { id: string; baseUrl: string } | undefined;
  hasRights(): Promise<boolean>;
  read(signal: AbortSignal): Promise<Result<LiveRead, Failure>>;
  /** Returns a function that subscribes to the connection's events. Undefined if the topic has none. */
  openSource(): Promise<((onProgress: OnProgress) => Source) | undefined>;
};
/** `owner`: the member or token whose limits apply. */
type Viewer = { watch: Watch; owner: string; wake(): void };
type ReaderEntry = { reader: Reader; topicHash: string; viewers: Set<Viewer>; lastViewer: Viewer; source?: Source; timer?: NodeJS.Timeout };

export type Position = { seq: number; topicHashes: ReadonlySet<string> };
export type LiveHub = ReturnType<typeof createLiveHub>;
/** `topicHash` is a short hash of the topic and the rights. */
export type Subscription = {
  topicHash: string;
  getItemsSince(cursor: number | undefined): LiveItem[];
  firstRead: Promise<void>;
  unsubscribe(): void;
};

export function createLiveHub({ now, log }: { now: () => number; log: Log }) {
  const epoch = randomBytes(6).toString("hex");
  const readers = new Map<string, ReaderEntry>();
  const streams = new Map<string, Set<() => void>>();
  let seq = 0;
  let isStopped = false;

  /** Skips viewers that lost their rights, because their streams are about to end. */
  async function findAuthorizedWatch({ viewers, lastViewer }: ReaderEntry): Promise<Watch> {
    for (const { watch } of viewers) if (await watch.hasRights()) return watch;
    return lastViewer.watch;
  }

  const listOwnerReaders = (owner: string) => [...readers.values()].filter(({ lastViewer }) => lastViewer.owner === owner);

  function exceedsLimits(entry: ReaderEntry, length: number): boolean {
    const sum = (entries: Iterable<ReaderEntry>) =>
      [...entries].reduce((total, item) => total + (item === entry ? length : item.reader.getLength()), 0);
    return sum(readers.values()) > MAX_CACHED_CHARS || sum(listOwnerReaders(entry.lastViewer.owner)) > MAX_CACHED_CHARS_PER_MEMBER;
  }

  function createReaderEntry(viewer: Viewer): ReaderEntry {
    const { name, key } = viewer.watch;
    const reader = createReader({
      name,
      isServiceTopic: viewer.watch.connection !== undefined && !isExpensiveTopic(name),
      async read(signal) {
        // The first read starts before `entry` is assigned.
        await Promise.resolve();
        const watch = await findAuthorizedWatch(entry);
        const createSource = await watch.openSource();
        if (createSource && !entry.source && readers.get(key) === entry)
          entry.source = createSource((jobId) => (jobId === undefined ? reader.trigger() : reader.scheduleProgress(jobId)));
        return watch.read(signal);
      },
      getCacheFailure: ({ text }) => (exceedsLimits(entry, text.length) ? limitExceeded.failure : undefined),
      nextSeq: () => (seq += 1),
      now,
      hasChangeEvents: () => entry.source?.hasChangeEvents() === true,
      getProgress: (jobId, nodesTotal) => entry.source?.getProgress(jobId, nodesTotal),
      onChange: () => entry.viewers.forEach(({ wake }) => wake()),
      onError: (error) => failed(toFailure({ log }, error, { topic: name }, "live topic read failed")),
    });
    const topicHash = createHash("sha256").update(key).digest("base64url").slice(0, TOPIC_HASH_LENGTH);
    const entry: ReaderEntry = { reader, topicHash, viewers: new Set(), lastViewer: viewer };
    readers.set(key, entry);
    return entry;
  }

  function close(key: string, { reader, source }: ReaderEntry): void {
    readers.delete(key);
    reader.stop();
    source?.stop();
  }

  return {
    /** Formats a position as an event id. `topicHashes`: the topics whose values the viewer has. */
    formatEventId: (seq: number, topicHashes: readonly string[]) => `${epoch}.${seq}.${topicHashes.join("")}`,
    getPosition: () => seq,
    /** Undefined for an event id of another process. */
    parseEventId(id: string | null): Position | undefined {
      const [, eventEpoch, eventSeq, topicHashes] = /^([0-9a-f]+)\.(\d{1,15})\.([\w-]*)$/.exec(id ?? "") ?? [];
      return eventEpoch === epoch && Number(eventSeq) <= seq
        ? { seq: Number(eventSeq), topicHashes: new Set(topicHashes?.match(topicHashPattern)) }
        : undefined;
    },

    subscribe(watch: Watch, owner: string, wake: () => void): Result<Subscription, Failure> {
      if (!readers.has(watch.key) && (readers.size >= MAX_READERS || listOwnerReaders(owner).length >= MAX_READERS_PER_MEMBER))
        return limitExceeded;
      const viewer = { watch, owner, wake };
      const entry = readers.get(watch.key) ?? createReaderEntry(viewer);
      clearTimeout(entry.timer);
      entry.viewers.add(viewer);
      entry.lastViewer = viewer;
      entry.reader.refreshIfOld();
      const unsubscribe = () => {
        if (!entry.viewers.delete(viewer) || entry.viewers.size > 0) return;
        entry.timer = setTimeout(() => close(watch.key, entry), LINGER_MS).unref();
      };
      return ok({
        topicHash: entry.topicHash,
        getItemsSince: (cursor) => entry.reader.getItemsSince(cursor),
        firstRead: entry.reader.firstRead,
        unsubscribe,
      });
    },

    /** `endStream` closes the stream. Returns a function that removes it, or undefined if a limit is reached. */
    addStream(owner: string, endStream: () => void): (() => void) | undefined {
      const ownStreams = streams.get(owner) ?? new Set();
      const streamCount = [...streams.values()].reduce((sum, ownerStreams) => sum + ownerStreams.size, 0);
      if (isStopped || ownStreams.size >= MAX_STREAMS_PER_MEMBER || streamCount >= MAX_STREAMS) return undefined;
      streams.set(owner, ownStreams.add(endStream));
      return () => {
        ownStreams.delete(endStream);
        if (ownStreams.size === 0 && streams.get(owner) === ownStreams) streams.delete(owner);
      };
    },

    /** If `change` is undefined, anything may have changed. */
    handleChange(change: DataChange | undefined): void {
      for (const { reader, lastViewer } of readers.values()) {
        const { name, connection } = lastViewer.watch;
        const isAffected =
          !change ||
          (connection ? connection.id === change.connectionId || connection.baseUrl === change.baseUrl : change.baseUrl === undefined);
        if (isAffected && !isExpensiveTopic(name)) reader.trigger();
      }
    },

    countReaders: () => readers.size,

    /** Call before closing the HTTP server, which waits for every response. */
    stop(): void {
      isStopped = true;
      for (const endStreams of [...streams.values()]) for (const endStream of [...endStreams]) endStream();
      for (const [key, entry] of [...readers]) {
        clearTimeout(entry.timer);
        close(key, entry);
      }
    },
  };
}
