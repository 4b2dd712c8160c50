// Sends the events of several topics, as a stream (text/event-stream) or once as JSON.
// A viewer has a position instead of a queue, so a slow client receives only the newest values.

import "server-only";
import { type Failure } from "@/lib/contract/failure";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { HEARTBEAT_MS } from "@/lib/contract/live";
import { withTimeout } from "@/lib/shared/async";
import { type Result } from "@/lib/shared/result";
import { type LiveHub, type Position, type Subscription, type Watch } from "./hub";

const RIGHTS_CHECK_INTERVAL_MS = 700;
const FIRST_VALUE_TIMEOUT_MS = 3000;
const FORCE_CLOSE_MS = 250;
/** A stream that lacks some of its topics ends after this time, so that the client retries. */
const INCOMPLETE_STREAM_MS = 30_000;

/** `isNew`: the viewer needs a snapshot. */
export type LiveTopic = { topic: string; isNew: boolean; watch: Result<Watch, Failure> };
type ViewerOptions = {
  hub: LiveHub;
  topics: readonly LiveTopic[];
  lastPosition: Position | undefined;
  /** The member or token whose limits apply. */
  owner: string;
};
type Event = { event: string; data: string; id?: string };

/** `collect` returns the events after the viewer's position, and advances it. */
function createViewer({ hub, topics, lastPosition, owner }: ViewerOptions, wake: () => void) {
  let cursor = lastPosition?.seq ?? hub.getPosition();
  let isIncomplete = false;
  const failureEvents: Event[] = [];
  const subscriptions: { topic: string; isNew: boolean; subscription: Subscription }[] = [];
  for (const { topic, isNew, watch } of topics) {
    const result = watch.ok ? hub.subscribe(watch.value, owner, wake) : watch;
    isIncomplete ||= watch.ok && !result.ok;
    // Changes can't be based on values that were read with other rights.
    if (result.ok)
      subscriptions.push({ topic, isNew: isNew || !lastPosition?.topicHashes.has(result.value.topicHash), subscription: result.value });
    else failureEvents.push({ event: "failure", data: writeExactJson({ topic, atMs: Date.now(), failure: result.failure }) });
  }
  const toEventId = (seq: number) =>
    hub.formatEventId(
      seq,
      subscriptions.flatMap(({ isNew, subscription }) => (isNew ? [] : [subscription.topicHash])),
    );

  return {
    isIncomplete,

    async waitForFirstValues(): Promise<void> {
      const firstReads = subscriptions.filter(({ isNew }) => isNew).map(({ subscription }) => subscription.firstRead);
      await withTimeout(Promise.all(firstReads), FIRST_VALUE_TIMEOUT_MS, () => undefined);
    },

    collect(): Event[] {
      const hasNewSubscriptions = subscriptions.some(({ isNew }) => isNew);
      const items = subscriptions.flatMap((topicSubscription) => {
        const newItems = topicSubscription.subscription.getItemsSince(topicSubscription.isNew ? undefined : cursor);
        if (newItems.length > 0) topicSubscription.isNew = false;
        return newItems.map((item) => ({ ...item, topic: topicSubscription.topic }));
      });
      cursor = hub.getPosition();
      items.sort((a, b) => a.seq - b.seq);
      // The first snapshots may be older than other events, so the viewer may resume only after the last one.
      const getResumePosition = (seq: number, index: number) =>
        !hasNewSubscriptions ? seq : index === items.length - 1 ? cursor : undefined;
      const events = items.map(({ seq, event, topic, body }, index): Event => {
        const position = getResumePosition(seq, index);
        return { event, data: `{"topic":${writeExactJson(topic)},${body}}`, ...(position !== undefined && { id: toEventId(position) }) };
      });
      return [...failureEvents.splice(0), ...events];
    },

    getPosition: () => toEventId(cursor),
    unsubscribe: () => subscriptions.forEach(({ subscription }) => subscription.unsubscribe()),
  };
}

export async function readLiveEvents(options: ViewerOptions): Promise<string> {
  const viewer = createViewer(options, () => undefined);
  await viewer.waitForFirstValues();
  const events = viewer.collect().map(({ event, data }) => `{"event":"${event}","data":${data}}`);
  viewer.unsubscribe();
  return `{"id":"${viewer.getPosition()}","events":[${events.join()}]}`;
}

function toEventText({ event, data, id }: Event): string {
  return `event: ${event}\ndata: ${data}\n${id === undefined ? "" : `id: ${id}\n`}\n`;
}

type StreamOptions = ViewerOptions & {
  /** The request's signal. If a client disconnects before the response starts, nobody cancels the stream. */
  signal: AbortSignal;
  /** Returns why the stream must end. */
  checkRights(): Promise<Failure | undefined>;
  onHeartbeat(): void;
};

/** Undefined if there are too many streams. */
export function createEventStream(options: StreamOptions): ReadableStream<Uint8Array> | undefined {
  const { hub, signal, owner, checkRights, onHeartbeat } = options;
  const encoder = new TextEncoder();
  let wake: () => void = () => undefined;
  let streamController: ReadableStreamDefaultController<Uint8Array> | undefined;
  let isPingDue = false;
  let isChecking = false;
  let endState: { failure?: Failure } | undefined;

  const removeStream = hub.addStream(owner, () => finish({}));
  if (!removeStream) return undefined;
  const viewer = createViewer(options, () => wake());
  const pendingEvents: Event[] = [{ event: "hello", data: writeExactJson({ heartbeatMs: HEARTBEAT_MS }) }];
  const pingTimer = setInterval(() => {
    isPingDue = true;
    onHeartbeat();
    wake();
  }, HEARTBEAT_MS).unref();
  const checkTimer = setInterval(() => void check(), RIGHTS_CHECK_INTERVAL_MS).unref();

  const endSilently = () => finish({});
  const retryTimer = viewer.isIncomplete ? setTimeout(endSilently, INCOMPLETE_STREAM_MS).unref() : undefined;
  signal.addEventListener("abort", endSilently);
  if (signal.aborted) endSilently();

  async function check(): Promise<void> {
    if (isChecking) return;
    isChecking = true;
    // An outage must not end streams.
    const failure = await checkRights().catch(() => undefined);
    isChecking = false;
    if (failure) finish({ failure });
  }

  function cleanUp(): void {
    clearInterval(pingTimer);
    clearInterval(checkTimer);
    clearTimeout(retryTimer);
    signal.removeEventListener("abort", endSilently);
    viewer.unsubscribe();
    removeStream?.();
  }

  function finish(state: { failure?: Failure }): void {
    if (endState) return;
    endState = state;
    cleanUp();
    wake();
    // Closes the stream of a client that doesn't read.
    setTimeout(() => {
      streamController?.error(new Error("the stream has ended"));
      streamController = undefined;
    }, FORCE_CLOSE_MS).unref();
  }

  function collect(): Event[] {
    try {
      return viewer.collect();
    } catch (error) {
      finish({});
      throw error;
    }
  }

  function takeEvents(): Event[] {
    if (!endState) {
      const events = [...pendingEvents.splice(0), ...collect()];
      if (isPingDue) events.push({ event: "ping", data: "{}" });
      isPingDue = false;
      return events;
    }
    const { failure } = endState;
    // After a change of rights, the client must start over, so the empty id resets its position.
    return failure ? [{ event: "end", data: writeExactJson({ failure }), id: "" }] : [];
  }

  return new ReadableStream<Uint8Array>(
    {
      start: (controller) => void (streamController = controller),
      async pull(controller) {
        let events = takeEvents();
        while (events.length === 0 && !endState) {
          await new Promise<void>((resolve) => (wake = resolve));
          events = takeEvents();
        }
        // The stream was cancelled, or closed because the client did not read.
        if (streamController === undefined) return;
        if (events.length > 0) controller.enqueue(encoder.encode(events.map(toEventText).join("")));
        if (!endState) return;
        streamController = undefined;
        controller.close();
      },
      cancel() {
        streamController = undefined;
        if (!endState) cleanUp();
        endState ??= {};
        wake();
      },
    },
    { highWaterMark: 0 },
  );
}
