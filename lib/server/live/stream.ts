// Sends the events of several topics, as a stream (text/event-stream) or once as JSON.
// A viewer has a position instead of a queue, so a slow client receives only the newest values.

import "server-only";
import { type Failure } from "@/lib/contract/failure";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { HEARTBEAT_MS } from "@/lib/contract/live";
import { withTimeout } from "@/lib/shared/async";
import { type Result } from "@/lib/shared/result";
import { type LiveHub, type Position, type Subscription, type Watch } from "./hub";

const RIGHTS_CHECK_MS = 700;
const FIRST_VALUE_TIMEOUT_MS = 3000;
const FORCE_CLOSE_MS = 250;
/** A stream that lacks some of its topics ends after this time, so that the client retries. */
const INCOMPLETE_STREAM_MS = 30_000;

/** `isNew`: the viewer needs a snapshot. */
export type LiveTopic = { topic: string; isNew: boolean; watch: Result<Watch, Failure> };
type ViewerOptions = {
  hub: LiveHub;
  topics: readonly LiveTopic[];
  after: Position | undefined;
  /** The member or token whose limits apply. */
  owner: string;
};
type Event = { event: string; data: string; id?: string };

/** `collect` returns the events after the viewer's position, and advances it. */
function createViewer({ hub, topics, after, owner }: ViewerOptions, wake: () => void) {
  let cursor = after?.at ?? hub.position();
  let isIncomplete = false;
  const failureEvents: Event[] = [];
  const subscriptions: { topic: string; isNew: boolean; of: Subscription }[] = [];
  for (const { topic, isNew, watch } of topics) {
    const result = watch.ok ? hub.subscribe(watch.value, owner, wake) : watch;
    isIncomplete ||= watch.ok && !result.ok;
    // Changes can't be based on values that were read with other rights.
    if (result.ok) subscriptions.push({ topic, isNew: isNew || !after?.marks.has(result.value.mark), of: result.value });
    else failureEvents.push({ event: "failure", data: writeExactJson({ topic, atMs: Date.now(), failure: result.failure }) });
  }
  const toEventId = (at: number) =>
    hub.idOf(
      at,
      subscriptions.flatMap(({ isNew, of }) => (isNew ? [] : [of.mark])),
    );

  return {
    isIncomplete,

    async first(): Promise<void> {
      const firstReads = subscriptions.filter(({ isNew }) => isNew).map(({ of }) => of.first);
      await withTimeout(Promise.all(firstReads), FIRST_VALUE_TIMEOUT_MS, () => undefined);
    },

    collect(): Event[] {
      const isBeginning = subscriptions.some(({ isNew }) => isNew);
      const items = subscriptions.flatMap((subscription) => {
        const newItems = subscription.of.since(subscription.isNew ? undefined : cursor);
        if (newItems.length > 0) subscription.isNew = false;
        return newItems.map((item) => ({ ...item, topic: subscription.topic }));
      });
      cursor = hub.position();
      items.sort((a, b) => a.seq - b.seq);
      // The first snapshots may be older than other events, so the viewer may resume only after the last one.
      const resumePosition = (seq: number, index: number) => (!isBeginning ? seq : index === items.length - 1 ? cursor : undefined);
      const events = items.map(({ seq, event, topic, body }, index): Event => {
        const at = resumePosition(seq, index);
        return { event, data: `{"topic":${writeExactJson(topic)},${body}}`, ...(at !== undefined && { id: toEventId(at) }) };
      });
      return [...failureEvents.splice(0), ...events];
    },

    position: () => toEventId(cursor),
    leave: () => subscriptions.forEach(({ of }) => of.leave()),
  };
}

export async function readLiveEvents(options: ViewerOptions): Promise<string> {
  const viewer = createViewer(options, () => undefined);
  await viewer.first();
  const events = viewer.collect().map(({ event, data }) => `{"event":"${event}","data":${data}}`);
  viewer.leave();
  return `{"id":"${viewer.position()}","events":[${events.join()}]}`;
}

function toEventText({ event, data, id }: Event): string {
  return `event: ${event}\ndata: ${data}\n${id === undefined ? "" : `id: ${id}\n`}\n`;
}

type StreamOptions = ViewerOptions & {
  /** The request's signal. If a client disconnects before the response starts, nobody cancels the stream. */
  signal: AbortSignal;
  /** Returns why the stream must end. */
  checkRights(): Promise<Failure | undefined>;
  heartbeat(): void;
};

/** Undefined if there are too many streams. */
export function createEventStream(options: StreamOptions): ReadableStream<Uint8Array> | undefined {
  const { hub, signal, owner, checkRights, heartbeat } = options;
  const encoder = new TextEncoder();
  let wake: () => void = () => undefined;
  let control: ReadableStreamDefaultController<Uint8Array> | undefined;
  let isPingDue = false;
  let isChecking = false;
  let ending: { failure?: Failure } | undefined;

  const removeStream = hub.addStream(owner, () => finish({}));
  if (!removeStream) return undefined;
  const viewer = createViewer(options, () => wake());
  const pendingEvents: Event[] = [{ event: "hello", data: writeExactJson({ heartbeatMs: HEARTBEAT_MS }) }];
  const pingTimer = setInterval(() => {
    isPingDue = true;
    heartbeat();
    wake();
  }, HEARTBEAT_MS).unref();
  const checkTimer = setInterval(() => void check(), RIGHTS_CHECK_MS).unref();

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

  function leave(): void {
    clearInterval(pingTimer);
    clearInterval(checkTimer);
    clearTimeout(retryTimer);
    signal.removeEventListener("abort", endSilently);
    viewer.leave();
    removeStream?.();
  }

  function finish(end: { failure?: Failure }): void {
    if (ending) return;
    ending = end;
    leave();
    wake();
    // Closes the stream of a client that doesn't read.
    setTimeout(() => {
      control?.error(new Error("the stream has ended"));
      control = undefined;
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
    if (!ending) {
      const events = [...pendingEvents.splice(0), ...collect()];
      if (isPingDue) events.push({ event: "ping", data: "{}" });
      isPingDue = false;
      return events;
    }
    const { failure } = ending;
    // With other rights the client must start over, which the empty id causes.
    return failure ? [{ event: "end", data: writeExactJson({ failure }), id: "" }] : [];
  }

  return new ReadableStream<Uint8Array>(
    {
      start: (controller) => void (control = controller),
      async pull(controller) {
        let events = takeEvents();
        while (events.length === 0 && !ending) {
          await new Promise<void>((resolve) => (wake = resolve));
          events = takeEvents();
        }
        // The stream was cancelled, or closed because the client did not read.
        if (control === undefined) return;
        if (events.length > 0) controller.enqueue(encoder.encode(events.map(toEventText).join("")));
        if (!ending) return;
        control = undefined;
        controller.close();
      },
      cancel() {
        control = undefined;
        if (!ending) leave();
        ending ??= {};
        wake();
      },
    },
    { highWaterMark: 0 },
  );
}
