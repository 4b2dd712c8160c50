// Reads the console's live events as a stream, or by requests while a proxy buffers or blocks streams.
// Guarantees: no gaps or duplicates after reconnects (Last-Event-ID), one reconnect for topics that change together, and no request before
// the time in Retry-After.

import { writeExactJson } from "@/lib/contract/json/exact-json";
import { asText, isObject } from "@/lib/contract/json/json";
import { parseJson } from "@/lib/contract/json/parse-json";
import { LIVE_PATH } from "@/lib/contract/live";
import { parseResponse, readFailure } from "../read-answer";
import { type ApiFailure, isFailure, toFailure } from "../read-failure";

/** `data`: JSON as sent by the console. Only tabs that show the topic parse it. */
export type StreamEvent = { event: string; data: string; topic?: string; id?: string };

const defaultTimes = {
  coalesceMs: 50,
  /** The time until the first event, and then until each further one. */
  helloMs: 10_000,
  silenceMs: 20_000,
  busyMs: 2_000,
  idleMs: 8_000,
  firstRetryMs: 1_000,
  maxRetryMs: 10_000,
  /** How long requests replace a stream that did not arrive. Three times longer after each further attempt. */
  requestsMs: 60_000,
  maxRequestsMs: 900_000,
};

type StreamOptions = {
  /** Sends a request to the console. */
  request: (path: `/${string}`, init: { headers: Record<string, string>; signal: AbortSignal }) => Promise<Response>;
  onEvent: (event: StreamEvent) => void;
  /** The console returned an error or is unreachable. The topics have no live updates until the next event. */
  onFailure: (failure: ApiFailure, topics: readonly string[]) => void;
  onState: (isLive: boolean) => void;
  times?: Partial<typeof defaultTimes>;
  lastId?: string;
  /** If false, only requests are sent. */
  hasStream?: boolean;
};

export type LiveStream = ReturnType<typeof createLiveStream>;
type Outcome = { failure: ApiFailure } | "closed" | "silent" | "answered" | "idle";

export function createLiveStream({ request, onEvent, onFailure, onState, times, lastId, hasStream = true }: StreamOptions) {
  const limits = { ...defaultTimes, ...times };
  let topics: readonly string[] = [];
  /** Topics that need a snapshot. */
  const withoutValue = new Set<string>();
  let current: AbortController | undefined;
  let startedMs = 0;
  /** When the pending stream was first requested, even if topics changed since. */
  let unansweredMs: number | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let failures = 0;
  /** Consecutive streams without a first event. */
  let streamFailures = 0;
  let lastReceivedMs = Date.now();
  let notBeforeMs = 0;
  let requestsMs = 0;
  let requestsUntilMs = 0;

  function plan(waitMs: number): void {
    clearTimeout(timer);
    timer = setTimeout(() => void run(), Math.max(waitMs, notBeforeMs - Date.now()));
  }

  async function run(): Promise<void> {
    current?.abort();
    current = undefined;
    if (topics.length === 0) return onState(false);
    const controller = new AbortController();
    current = controller;
    startedMs = Date.now();
    const isStream = hasStream && Date.now() >= requestsUntilMs;
    const outcome = await (isStream ? readStream(controller) : readOnce(controller)).catch((cause: unknown): Outcome =>
      controller.signal.reason === "silent" ? "silent" : { failure: toFailure(cause) },
    );
    if (current !== controller) return;
    current = undefined;
    unansweredMs = undefined;
    if (isStream) onState(false);
    plan(getNextWait(outcome, isStream));
  }

  function switchToRequests(firstMs: number): void {
    requestsMs = requestsMs === 0 ? firstMs : Math.min(requestsMs * 3, limits.maxRequestsMs);
    requestsUntilMs = Date.now() + requestsMs;
  }

  function getNextWait(outcome: Outcome, isStream: boolean): number {
    if (outcome === "answered") return limits.busyMs;
    if (outcome === "idle") return limits.idleMs;
    if (outcome === "silent") {
      switchToRequests(limits.requestsMs);
      return 0;
    }
    if (outcome === "closed") return Math.max(0, startedMs + limits.firstRetryMs - Date.now());
    const isSignedOut = outcome.failure.status === 401;
    if (isSignedOut) streamFailures = 0;
    else if (isStream) streamFailures += 1;
    // Polling also failed.
    else if (streamFailures > 0) [requestsMs, requestsUntilMs] = [0, 0];
    if (isStream && streamFailures > 1) {
      switchToRequests(limits.maxRetryMs);
      notBeforeMs = Date.now() + (outcome.failure.retryAfterMs ?? 0);
      return 0;
    }
    failures += 1;
    lastId = undefined;
    for (const topic of topics) withoutValue.add(topic);
    const { retryAfterMs = 0 } = outcome.failure;
    notBeforeMs = Date.now() + retryAfterMs;
    onFailure(outcome.failure, topics);
    // The next sign-in restarts the stream.
    if (isSignedOut) return limits.maxRetryMs;
    return Math.min(limits.firstRetryMs * 2 ** (failures - 1), limits.maxRetryMs);
  }

  async function requestEvents(format: Record<string, string>, signal: AbortSignal): Promise<Response> {
    const query = new URLSearchParams(format);
    for (const topic of topics) query.append(withoutValue.has(topic) ? "new" : "topic", topic);
    const headers = { accept: "text/event-stream, application/json", ...(lastId !== undefined && { "last-event-id": lastId }) };
    return request(`${LIVE_PATH}?${query.toString()}`, { headers, signal });
  }

  async function readStream(controller: AbortController): Promise<Outcome> {
    const abort = () => controller.abort("silent");
    unansweredMs ??= startedMs;
    let watchdog = setTimeout(abort, unansweredMs + limits.helloMs - startedMs);
    let hasReceived = false;
    let failure: ApiFailure | undefined;
    const handleText = createLineReader((event) => {
      hasReceived = true;
      unansweredMs = undefined;
      if (event.event === "hello") [requestsMs, requestsUntilMs, streamFailures] = [0, 0, 0];
      if (event.event === "end") failure = parseEndFailure(event.data);
      else emit(event);
    });
    try {
      const response = await requestEvents({}, controller.signal);
      const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") === true;
      if (!response.ok || !isStream || !response.body) return { failure: await readResponseFailure(response) };
      const decoder = new TextDecoder();
      const reader = response.body.getReader();
      for (let chunk = await reader.read(); !chunk.done && current === controller; chunk = await reader.read()) {
        handleText(decoder.decode(chunk.value, { stream: true }));
        if (failure) return { failure: failure };
        if (!hasReceived) continue;
        clearTimeout(watchdog);
        watchdog = setTimeout(abort, limits.silenceMs);
      }
      return hasReceived ? "closed" : { failure: toFailure(undefined) };
    } catch (cause) {
      // The stream was interrupted. The next attempt shows whether the console is reachable.
      if (hasReceived && !controller.signal.aborted) return "closed";
      throw cause;
    } finally {
      clearTimeout(watchdog);
    }
  }

  async function readOnce(controller: AbortController): Promise<Outcome> {
    const { signal } = controller;
    const watchdog = setTimeout(() => controller.abort("late"), limits.silenceMs);
    const body = async () => {
      const response = await requestEvents({ format: "json" }, signal);
      return parseResponse<{ id?: unknown; events?: unknown }>(response, await response.text());
    };
    const result = await body().finally(() => clearTimeout(watchdog));
    if (!result.ok) return result;
    const { id, events } = result.value;
    if (!Array.isArray(events)) return { failure: readFailure(502, null, "") };
    if (signal.aborted) return "idle";
    emit({ event: "ping", data: "{}" });
    for (const item of events) {
      if (!isObject(item) || typeof item.event !== "string") continue;
      if (item.event === "end") return { failure: parseEndFailure(writeExactJson(item.data)) };
      emit({ event: item.event, data: writeExactJson(item.data) });
    }
    lastId = asText(id) ?? lastId;
    return events.length > 0 ? "answered" : "idle";
  }

  function emit(event: StreamEvent): void {
    lastReceivedMs = Date.now();
    failures = 0;
    if (event.id !== undefined) lastId = event.id || undefined;
    const topic = extractTopic(event.data);
    if (topic !== undefined && (event.event === "snapshot" || event.event === "failure")) withoutValue.delete(topic);
    if (event.event === "hello") onState(true);
    onEvent(topic === undefined ? event : { ...event, topic });
  }

  return {
    /** `newTopics`: topics that need a snapshot. */
    setTopics(next: readonly string[], newTopics: readonly string[] = []): void {
      const isSame = next.length === topics.length && next.every((topic) => topics.includes(topic));
      if (isSame && !next.some((topic) => newTopics.includes(topic))) return;
      for (const topic of next) if (newTopics.includes(topic) || !topics.includes(topic)) withoutValue.add(topic);
      topics = next;
      plan(limits.coalesceMs);
    },
    /** Call when the device wakes up. Reconnects at once unless the stream works. */
    wake(): void {
      if (current && Date.now() - lastReceivedMs <= limits.silenceMs) return;
      failures = 0;
      plan(0);
    },
    /** Call when the network changes. Reconnects at once. */
    reconnect(): void {
      failures = 0;
      plan(0);
    },
    /** Call when the rights change. Reads all values again. */
    restart(): void {
      [failures, notBeforeMs, requestsUntilMs, streamFailures] = [0, 0, 0, 0];
      for (const topic of topics) withoutValue.add(topic);
      plan(0);
    },
    close(): void {
      topics = [];
      clearTimeout(timer);
      current?.abort();
      current = undefined;
    },
  };
}

/** Returns a function for the text chunks of the stream. */
function createLineReader(onEvent: (event: StreamEvent) => void): (text: string) => void {
  let rest = "";
  let event = "message";
  let data: string[] = [];
  let id: string | undefined;
  const handleLine = (line: string) => {
    if (line === "") {
      if (data.length > 0) onEvent({ event, data: data.join("\n"), ...(id !== undefined && { id }) });
      [event, data, id] = ["message", [], undefined];
      return;
    }
    const [, field, value = ""] = /^(event|data|id)(?:: ?(.*))?$/s.exec(line) ?? [];
    if (field === "event") event = value;
    else if (field === "data") data.push(value);
    else if (field === "id") id = value;
  };
  return (text) => {
    const lines = text.split("\n");
    lines[0] = rest + (lines[0] ?? "");
    rest = lines.pop() ?? "";
    for (const line of lines) handleLine(line.replace(/\r$/, ""));
  };
}

/** Finds the topic without parsing the whole value. */
function extractTopic(data: string): string | undefined {
  const [, start] = /^\{"topic":("(?:[^"\\]|\\.)*")/.exec(data) ?? [];
  const topic: unknown = start === undefined ? parseTopic(data) : JSON.parse(start);
  return asText(topic);
}

function parseTopic(data: string): unknown {
  const value = data.includes('"topic":') ? parseJson(data) : undefined;
  return isObject(value) ? value.topic : undefined;
}

/** The response is an HTML page, such as a sign-in page or a proxy's error. */
async function readResponseFailure(response: Response): Promise<ApiFailure> {
  if (!response.ok) return readFailure(response.status, response.headers.get("retry-after"), await response.text());
  void response.body?.cancel();
  return readFailure(response.redirected ? 401 : 502, null, "");
}

function parseEndFailure(data: string): ApiFailure {
  const body = parseJson(data);
  const failure = isObject(body) ? body.failure : undefined;
  return isFailure(failure) ? failure : readFailure(401, null, "");
}
