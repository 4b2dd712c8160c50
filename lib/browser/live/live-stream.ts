// Reads the console's live events as a stream, or by polling while a proxy buffers or blocks streams.
// Guarantees: reconnects cause no gaps or duplicates (Last-Event-ID). Topics that change together cause one reconnect. No request is sent
// before the time in Retry-After.

import { writeExactJson } from "@/lib/contract/json/exact-json";
import { asText, isObject } from "@/lib/contract/json/json";
import { parseJson } from "@/lib/contract/json/parse-json";
import { LIVE_PATH } from "@/lib/contract/live";
import { type ApiFailure, isFailure, toFailure } from "../api-failure";
import { parseFailureResponse, parseResponse } from "../parse-response";

/** `data`: JSON as sent by the console. Only tabs that show the topic parse it. */
export type StreamEvent = { event: string; data: string; topic?: string; id?: string };

const defaultTimes = {
  coalesceMs: 50,
  firstEventTimeoutMs: 10_000,
  maxSilenceMs: 20_000,
  busyPollMs: 2_000,
  idlePollMs: 8_000,
  initialRetryMs: 1_000,
  maxRetryMs: 10_000,
  /** How long polling replaces a stream that did not arrive. Tripled after each further attempt. */
  initialPollingMs: 60_000,
  maxPollingMs: 900_000,
};

export type StreamOptions = {
  /** Sends a request to the console. */
  request: (path: `/${string}`, init: { headers: Record<string, string>; signal: AbortSignal }) => Promise<Response>;
  onEvent: (event: StreamEvent) => void;
  /** The console returned an error or is unreachable. The topics have no live updates until the next event. */
  onFailure: (failure: ApiFailure, topics: readonly string[]) => void;
  onState: (isLive: boolean) => void;
  times?: Partial<typeof defaultTimes>;
  lastId?: string;
  /** If false, only polls. */
  canStream?: boolean;
};

export type LiveStream = ReturnType<typeof createLiveStream>;
type Outcome = { failure: ApiFailure } | "closed" | "silent" | "received" | "idle";

export function createLiveStream({ request, onEvent, onFailure, onState, times, lastId, canStream = true }: StreamOptions) {
  const limits = { ...defaultTimes, ...times };
  let topics: readonly string[] = [];
  const topicsNeedingSnapshot = new Set<string>();
  let currentController: AbortController | undefined;
  let startedMs = 0;
  /** The time at which the pending stream was first requested, even if topics changed since. */
  let pendingSinceMs: number | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let failureCount = 0;
  /** Consecutive streams without a first event. */
  let streamFailureCount = 0;
  let lastReceivedMs = Date.now();
  let notBeforeMs = 0;
  let pollingMs = 0;
  let pollingUntilMs = 0;

  function scheduleRun(waitMs: number): void {
    clearTimeout(timer);
    timer = setTimeout(() => void run(), Math.max(waitMs, notBeforeMs - Date.now()));
  }

  async function run(): Promise<void> {
    currentController?.abort();
    currentController = undefined;
    if (topics.length === 0) {
      pendingSinceMs = undefined;
      return onState(false);
    }
    const controller = new AbortController();
    currentController = controller;
    startedMs = Date.now();
    const isStream = canStream && Date.now() >= pollingUntilMs;
    const outcome = await (isStream ? readStream(controller) : poll(controller)).catch((cause: unknown): Outcome =>
      controller.signal.reason === "silent" ? "silent" : { failure: toFailure(cause) },
    );
    if (currentController !== controller) return;
    currentController = undefined;
    pendingSinceMs = undefined;
    if (isStream) onState(false);
    scheduleRun(handleOutcome(outcome, isStream));
  }

  function switchToPolling(initialMs: number): void {
    pollingMs = pollingMs === 0 ? initialMs : Math.min(pollingMs * 3, limits.maxPollingMs);
    pollingUntilMs = Date.now() + pollingMs;
  }

  function handleOutcome(outcome: Outcome, isStream: boolean): number {
    if (outcome === "received") return limits.busyPollMs;
    if (outcome === "idle") return limits.idlePollMs;
    if (outcome === "silent") {
      switchToPolling(limits.initialPollingMs);
      return 0;
    }
    if (outcome === "closed") return Math.max(0, startedMs + limits.initialRetryMs - Date.now());
    const isSignedOut = outcome.failure.status === 401;
    if (isSignedOut) streamFailureCount = 0;
    else if (isStream) streamFailureCount += 1;
    // Polling also failed.
    else if (streamFailureCount > 0) [pollingMs, pollingUntilMs] = [0, 0];
    if (isStream && streamFailureCount > 1) {
      switchToPolling(limits.maxRetryMs);
      notBeforeMs = Date.now() + (outcome.failure.retryAfterMs ?? 0);
      return 0;
    }
    failureCount += 1;
    lastId = undefined;
    for (const topic of topics) topicsNeedingSnapshot.add(topic);
    const { retryAfterMs = 0 } = outcome.failure;
    notBeforeMs = Date.now() + retryAfterMs;
    onFailure(outcome.failure, topics);
    // The next sign-in restarts the stream.
    if (isSignedOut) return limits.maxRetryMs;
    return Math.min(limits.initialRetryMs * 2 ** (failureCount - 1), limits.maxRetryMs);
  }

  async function requestEvents(params: Record<string, string>, signal: AbortSignal): Promise<Response> {
    const query = new URLSearchParams(params);
    for (const topic of topics) query.append(topicsNeedingSnapshot.has(topic) ? "new" : "topic", topic);
    const headers = { accept: "text/event-stream, application/json", ...(lastId !== undefined && { "last-event-id": lastId }) };
    return request(`${LIVE_PATH}?${query.toString()}`, { headers, signal });
  }

  async function readStream(controller: AbortController): Promise<Outcome> {
    const abort = () => controller.abort("silent");
    pendingSinceMs ??= startedMs;
    let watchdog = setTimeout(abort, pendingSinceMs + limits.firstEventTimeoutMs - startedMs);
    let hasReceived = false;
    let failure: ApiFailure | undefined;
    const handleText = createEventParser((event) => {
      hasReceived = true;
      pendingSinceMs = undefined;
      if (event.event === "hello") [pollingMs, pollingUntilMs, streamFailureCount] = [0, 0, 0];
      if (event.event === "end") failure = parseEndFailure(event.data);
      else emit(event);
    });
    try {
      const response = await requestEvents({}, controller.signal);
      const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") === true;
      if (!response.ok || !isStream || !response.body) return { failure: await readResponseFailure(response) };
      const decoder = new TextDecoder();
      const reader = response.body.getReader();
      for (let chunk = await reader.read(); !chunk.done && currentController === controller; chunk = await reader.read()) {
        handleText(decoder.decode(chunk.value, { stream: true }));
        if (failure) return { failure };
        if (!hasReceived) continue;
        clearTimeout(watchdog);
        watchdog = setTimeout(abort, limits.maxSilenceMs);
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

  async function poll(controller: AbortController): Promise<Outcome> {
    const { signal } = controller;
    const watchdog = setTimeout(() => controller.abort("late"), limits.maxSilenceMs);
    const readBody = async () => {
      const response = await requestEvents({ format: "json" }, signal);
      return parseResponse<{ id?: unknown; events?: unknown }>(response, await response.text());
    };
    const result = await readBody().finally(() => clearTimeout(watchdog));
    if (!result.ok) return result;
    const { id, events } = result.value;
    if (!Array.isArray(events)) return { failure: parseFailureResponse(502, null, "") };
    if (signal.aborted) return "idle";
    emit({ event: "ping", data: "{}" });
    for (const item of events) {
      if (!isObject(item) || typeof item.event !== "string") continue;
      if (item.event === "end") return { failure: parseEndFailure(writeExactJson(item.data)) };
      emit({ event: item.event, data: writeExactJson(item.data) });
    }
    lastId = asText(id) ?? lastId;
    return events.length > 0 ? "received" : "idle";
  }

  function emit(event: StreamEvent): void {
    lastReceivedMs = Date.now();
    failureCount = 0;
    if (event.id !== undefined) lastId = event.id || undefined;
    const topic = extractTopic(event.data);
    if (topic !== undefined && (event.event === "snapshot" || event.event === "failure")) topicsNeedingSnapshot.delete(topic);
    if (event.event === "hello") onState(true);
    onEvent(topic === undefined ? event : { ...event, topic });
  }

  return {
    /** `newTopics`: topics that need a snapshot. */
    setTopics(nextTopics: readonly string[], newTopics: readonly string[] = []): void {
      const isSame = nextTopics.length === topics.length && nextTopics.every((topic) => topics.includes(topic));
      if (isSame && !nextTopics.some((topic) => newTopics.includes(topic))) return;
      for (const topic of nextTopics) if (newTopics.includes(topic) || !topics.includes(topic)) topicsNeedingSnapshot.add(topic);
      topics = nextTopics;
      scheduleRun(limits.coalesceMs);
    },
    /** Call when the device wakes up. Reconnects at once unless the stream works. */
    wake(): void {
      if (currentController && Date.now() - lastReceivedMs <= limits.maxSilenceMs) return;
      failureCount = 0;
      scheduleRun(0);
    },
    /** Call when the network changes. Reconnects at once. */
    reconnect(): void {
      failureCount = 0;
      scheduleRun(0);
    },
    /** Call when the member's permissions change. Reads all values again. */
    restart(): void {
      [failureCount, notBeforeMs, pollingUntilMs, streamFailureCount] = [0, 0, 0, 0];
      for (const topic of topics) topicsNeedingSnapshot.add(topic);
      scheduleRun(0);
    },
    close(): void {
      topics = [];
      clearTimeout(timer);
      currentController?.abort();
      currentController = undefined;
    },
  };
}

/** Returns a function that accepts the text chunks of the stream. */
function createEventParser(onEvent: (event: StreamEvent) => void): (text: string) => void {
  let remainder = "";
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
    lines[0] = remainder + (lines[0] ?? "");
    remainder = lines.pop() ?? "";
    for (const line of lines) handleLine(line.replace(/\r$/, ""));
  };
}

/** Finds the topic without parsing the entire value. */
function extractTopic(data: string): string | undefined {
  const [, topicJson] = /^\{"topic":("(?:[^"\\]|\\.)*")/.exec(data) ?? [];
  const topic: unknown = topicJson === undefined ? parseTopic(data) : JSON.parse(topicJson);
  return asText(topic);
}

function parseTopic(data: string): unknown {
  const value = data.includes('"topic":') ? parseJson(data) : undefined;
  return isObject(value) ? value.topic : undefined;
}

/** Returns the failure for a response that is not an event stream, such as a sign-in page or a proxy's error page. */
async function readResponseFailure(response: Response): Promise<ApiFailure> {
  if (!response.ok) return parseFailureResponse(response.status, response.headers.get("retry-after"), await response.text());
  void response.body?.cancel();
  return parseFailureResponse(response.redirected ? 401 : 502, null, "");
}

function parseEndFailure(data: string): ApiFailure {
  const body = parseJson(data);
  const failure = isObject(body) ? body.failure : undefined;
  return isFailure(failure) ? failure : parseFailureResponse(401, null, "");
}
