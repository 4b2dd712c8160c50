// The live updates of a tab. The tabs of a browser share one stream, because HTTP/1.1 allows six connections. The tab with a lock leads, and
// passes the events on by a BroadcastChannel. In browsers without locks (a console without https), each visible tab has a stream. A
// SharedWorker would need a script outside the bundle, and is missing in Chrome for Android.

import { isTerminalWord } from "@/lib/contract/jobs/job-list";
import { asObject, asText, isObject, type JsonObject } from "@/lib/contract/json/json";
import { parseExactJson } from "@/lib/contract/json/parse-json";
import { recordSkipped } from "@/lib/contract/json/readers";
import {
  getPathTopic,
  getRowId,
  getTopicPath,
  isLiveEvent,
  LIVE_PATH,
  type LiveEvent,
  MAX_TOPICS,
  parseTopic,
  rowFields,
} from "@/lib/contract/live";
import { type ApiResponse, callApi, notifyResponse, onResponse } from "../api";
import { type ApiFailure, isFailure } from "../read-failure";
import { apiPath } from "../urls";
import { liveState } from "./live-state";
import { createLiveStream, type LiveStream, type StreamEvent } from "./live-stream";

/** Hidden tabs that are soon shown again keep their topics. */
const HIDE_DELAY_MS = 10_000;
const CHECK_INTERVAL_MS = 5_000;
/** Detects a leader tab that the browser froze. */
const MAX_SILENCE_MS = 30_000;
const ALIVE_MS = 10_000;

/** Increase this after each change of `TabMessage`, because tabs of an earlier version remain open during an upgrade. */
const TAB_MESSAGE_VERSION = 2;
/** Messages between the tabs of a browser. */
type TabMessage =
  | { to: "leader"; kind: "topics"; tab: string; topics: readonly string[]; newTopics: readonly string[] }
  | { to: "leader"; kind: "wake" | "reconnect" | "restart" }
  | { to: "tabs"; kind: "lead" }
  | { to: "tabs"; kind: "event"; event: StreamEvent }
  | { to: "tabs"; kind: "state"; isLive: boolean }
  | { to: "tabs"; kind: "failure"; failure: ApiFailure; topics: readonly string[] };

export type LiveMessage<Data> = { answer: Data } | { failure: ApiFailure };
/** A method because of its bivariance: each receiver gets only values of its own path. */
type Receiver = { receive(message: LiveMessage<unknown>): void };
type RowChange = Extract<LiveEvent, { event: "job.updated" | "job.progress" }>;
/** `sinceMs` and `snapshotMs`: times of the first and last snapshot. `changes`: the newest change of each row since the last one. */
type TopicValue = { answer: unknown; sinceMs: number; snapshotMs: number; changes: Map<string, { change: RowChange; ms: number }> };
type WatchedTopic = { receivers: Set<Receiver>; isDelivered?: true; isReadAgain?: boolean; current?: TopicValue };

/** `locks` and `channel` are undefined in browsers without them. */
type Environment = {
  locks?: { request(name: string, options: { steal?: boolean }, hold: () => Promise<void> | void): Promise<unknown> };
  channel?: Pick<BroadcastChannel, "postMessage" | "onmessage">;
  name: string;
  request: Parameters<typeof createLiveStream>[0]["request"];
  times?: Parameters<typeof createLiveStream>[0]["times"];
};

export type LiveTab = ReturnType<typeof createLiveTab>;

export function createLiveTab({ locks, channel, name, request, times }: Environment) {
  const id = crypto.getRandomValues(new Uint32Array(2)).join("-");
  const watchedTopics = new Map<string, WatchedTopic>();
  /** For the leader: the topics of each tab, with the most recent tab last. */
  const tabs = new Map<string, readonly string[]>();
  /** For the leader: a stream, and polling for topics beyond its limit. */
  const streams: LiveStream[] = [];
  let lastId: string | undefined;
  let leaderMs = Date.now();
  let [isHidden, isPlanned, isReady] = [false, false, false];
  let hideTimer: ReturnType<typeof setTimeout> | undefined;
  let checks: ReturnType<typeof setInterval> | undefined;
  let stopListening: (() => void) | undefined;

  const isShared = locks !== undefined && channel !== undefined;
  const post = (message: TabMessage) => {
    channel?.postMessage(message);
    if (message.to === "tabs") handleForTabs(message);
    else if (streams.length > 0) handleForLeader(message);
  };

  function handleForTabs(message: Extract<TabMessage, { to: "tabs" }>): void {
    leaderMs = Date.now();
    if (message.kind === "lead") sendTopics();
    else if (message.kind === "state") liveState.setState({ isLive: message.isLive });
    else if (message.kind === "failure") applyFailure(message);
    else {
      lastId = message.event.id ?? lastId;
      liveState.setState({ lastReceivedMs: leaderMs });
      const item = message.event.topic === undefined ? undefined : watchedTopics.get(message.event.topic);
      if (item) applyEvent(item, message.event);
    }
  }

  function applyFailure({ failure, topics }: Extract<TabMessage, { kind: "failure" }>): void {
    const { status } = failure;
    notifyResponse({ path: LIVE_PATH, method: "GET", status, failure });
    // The session banner shows these failures.
    if (status === 401 || status === 403) return;
    for (const [topic, watchedTopic] of watchedTopics) if (topics.includes(topic)) deliver(watchedTopic, { failure });
  }

  function applyEvent(item: WatchedTopic, { event, data }: StreamEvent): void {
    const liveEvent = { event, data: parseExactJson(data) };
    if (!isLiveEvent(liveEvent)) return;
    if (liveEvent.event === "failure") {
      const { failure } = liveEvent.data;
      if (isFailure(failure)) deliver(item, { failure });
      return;
    }
    const ms = Date.now();
    if (liveEvent.event === "snapshot") {
      const { value, unreadable = 0 } = liveEvent.data;
      const response = typeof value === "object" && value !== null ? recordSkipped(value, unreadable) : value;
      item.current = { answer: response, sinceMs: item.current?.sinceMs ?? ms, snapshotMs: ms, changes: new Map() };
    } else if (item.current && (liveEvent.event === "job.updated" || liveEvent.event === "job.progress")) {
      const key = `${liveEvent.event} ${getChangedId(liveEvent)}`;
      item.current.changes.delete(key);
      item.current.changes.set(key, { change: liveEvent, ms });
      item.current.answer = applyChange(item.current.answer, liveEvent);
    } else return;
    deliver(item, { answer: item.current.answer });
  }

  /** A screen's own read is newer than earlier events, but SWR drops it if an event arrives at the same time. */
  function applyResponse({ path, method, value, startedMs = Date.now() }: ApiResponse): void {
    const topic = method === "GET" && value !== undefined ? getPathTopic(path) : undefined;
    const item = topic === undefined ? undefined : watchedTopics.get(topic);
    if (topic === undefined || !item?.isDelivered) return;
    const { current } = item;
    if (!current) return deliver(item, { answer: value });
    if (current.snapshotMs >= startedMs) return void (current.sinceMs < startedMs && readAgain(item, topic));
    current.answer = value;
    for (const { change, ms } of current.changes.values()) if (ms >= startedMs) current.answer = applyChange(current.answer, change);
    deliver(item, { answer: current.answer });
  }

  /** Reads again, because a snapshot arrived during a screen's own read and it is unknown which of the two is newer. */
  async function readAgain(item: WatchedTopic, topic: string): Promise<void> {
    const path = getTopicPath(topic);
    if (item.isReadAgain || path === undefined) return;
    item.isReadAgain = true;
    await callApi(path);
    item.isReadAgain = false;
  }

  function deliver(item: WatchedTopic, message: LiveMessage<unknown>): void {
    item.isDelivered = true;
    for (const receiver of item.receivers) receiver.receive(message);
  }

  function listTopics(): readonly string[] {
    return [...watchedTopics.keys()].filter((topic) => !isHidden || (isShared && isForHidden(topic)));
  }

  function sendTopics(): void {
    if (!isReady) return;
    const topics = listTopics();
    const newTopics = topics.filter((topic) => watchedTopics.get(topic)?.current === undefined);
    post({ to: "leader", kind: "topics", tab: id, topics, newTopics });
  }

  function planTopics(): void {
    if (isPlanned) return;
    isPlanned = true;
    queueMicrotask(() => {
      isPlanned = false;
      sendTopics();
    });
  }

  function handleForLeader(message: Extract<TabMessage, { to: "leader" }>): void {
    const { kind } = message;
    if (kind !== "topics") return streams.forEach((stream) => stream[kind]());
    const { tab, topics, newTopics } = message;
    if (!tabs.has(tab) && tab !== id) void locks?.request(`${name} ${tab}`, {}, () => setTabTopics([], tab));
    setTabTopics(topics, tab, newTopics);
  }

  function setTabTopics(topics: readonly string[], tab: string, newTopics: readonly string[] = []): void {
    tabs.delete(tab);
    if (topics.length > 0 || tab === id) tabs.set(tab, topics);
    const newestFirst = [...new Set([...tabs.values()].reverse().flat())];
    while (streams.length * MAX_TOPICS < newestFirst.length) addStream();
    streams.forEach((stream, index) => stream.setTopics(newestFirst.slice(index * MAX_TOPICS, (index + 1) * MAX_TOPICS), newTopics));
  }

  function addStream(): void {
    const isFirst = streams.length === 0;
    const stream = createLiveStream({
      request,
      lastId: isFirst ? lastId : undefined,
      times,
      hasStream: isFirst,
      onEvent: (event) => post({ to: "tabs", kind: "event", event }),
      onFailure: (failure, topics) => post({ to: "tabs", kind: "failure", failure, topics }),
      onState: (isLive) => isFirst && post({ to: "tabs", kind: "state", isLive }),
    });
    streams.push(stream);
  }

  function startStreams(): void {
    addStream();
    post({ to: "tabs", kind: "lead" });
  }

  function stopStreams(): void {
    for (const stream of streams.splice(0)) stream.close();
    tabs.clear();
  }

  /** Leads until this tab is closed or another one takes over. */
  async function becomeLeader(steal: boolean): Promise<void> {
    await locks
      ?.request(name, { steal }, () => {
        startStreams();
        return new Promise<void>(() => undefined);
      })
      .catch(() => {
        stopStreams();
        void becomeLeader(false);
      });
  }

  async function start(): Promise<void> {
    stopListening = onResponse(applyResponse);
    isReady = !isShared;
    if (!isShared) return startStreams();
    channel.onmessage = ({ data }: MessageEvent<TabMessage>) => {
      if (data.to === "tabs") handleForTabs(data);
      else if (streams.length > 0) handleForLeader(data);
    };
    // Each tab holds this lock while it is open. The leader gets it once the tab is closed.
    await new Promise<void>((resolve) => {
      void locks.request(`${name} ${id}`, {}, () => {
        resolve();
        return new Promise<void>(() => undefined);
      });
    });
    isReady = true;
    void becomeLeader(false);
    sendTopics();
    checks = setInterval(() => {
      if (streams.length > 0 && Date.now() - leaderMs > ALIVE_MS) post({ to: "tabs", kind: "state", isLive: liveState.getState().isLive });
      else if (streams.length === 0 && !isHidden && Date.now() - leaderMs > MAX_SILENCE_MS) void becomeLeader(true);
    }, CHECK_INTERVAL_MS);
  }

  return {
    start,
    watch<Data>(path: string, receive: (message: LiveMessage<Data>) => void): () => void {
      const topic = getPathTopic(path);
      if (topic === undefined) return () => undefined;
      const item: WatchedTopic = watchedTopics.get(topic) ?? { receivers: new Set() };
      watchedTopics.set(topic, item);
      const receiver: Receiver = { receive };
      item.receivers.add(receiver);
      planTopics();
      return () => {
        item.receivers.delete(receiver);
        if (item.receivers.size === 0 && watchedTopics.get(topic) === item) watchedTopics.delete(topic);
        planTopics();
      };
    },
    close(): void {
      stopListening?.();
      clearInterval(checks);
      stopStreams();
    },
    restart: () => post({ to: "leader", kind: "restart" }),
    wake: () => post({ to: "leader", kind: "wake" }),
    reconnect: () => post({ to: "leader", kind: "reconnect" }),
    setHidden(hidden: boolean): void {
      clearTimeout(hideTimer);
      const apply = () => {
        if (isHidden === hidden) return;
        isHidden = hidden;
        // Changes may be missed until the tab is visible again.
        const nextTopics = listTopics();
        for (const [topic, watchedTopic] of watchedTopics) if (hidden && !nextTopics.includes(topic)) watchedTopic.current = undefined;
        sendTopics();
      };
      if (hidden) hideTimer = setTimeout(apply, HIDE_DELAY_MS);
      else apply();
    },
  };
}

/** For the titles of hidden tabs, and for the end of the session. */
const hiddenTopics: readonly (string | undefined)[] = ["counts", "queue", "batches", "session"];
const isForHidden = (topic: string) => hiddenTopics.includes(parseTopic(topic)?.name);

function getChangedId({ event, data }: RowChange): string | undefined {
  return event === "job.updated" ? getRowId(data.job) : data.id;
}

/** Services may restart these jobs. */
const restartableStates: readonly unknown[] = ["retryable_error", "lost"];

function hasEnded(row: JsonObject): boolean {
  return !restartableStates.includes(row.status ?? row.state) && isTerminalWord(asText(row.status) ?? asText(row.state) ?? "");
}

/** Returns the value unchanged if it lacks the row. Ended jobs remain ended, because earlier events may arrive later. */
function applyChange(response: unknown, event: RowChange): unknown {
  if (!isObject(response)) return response;
  const { data } = event;
  const id = getChangedId(event);
  const change = (row: JsonObject): JsonObject => {
    if (getRowId(row) !== id || (hasEnded(row) && (event.event === "job.progress" || !hasEnded(event.data.job)))) return row;
    if (event.event === "job.updated") return event.data.job;
    return { ...row, progress: { start_time: asObject(row.progress)?.start_time, ...event.data.progress } };
  };
  const name = parseTopic(data.topic)?.name;
  if (name === "job") return change(response);
  const lists = (name && rowFields[name]) ?? [];
  const changedLists = lists.flatMap((list) => {
    const rows = response[list];
    return Array.isArray(rows) ? [[list, rows.map((row: unknown) => (isObject(row) ? change(row) : row))] as const] : [];
  });
  return { ...response, ...Object.fromEntries(changedLists) };
}

let sharedTab: LiveTab | undefined;

function getLiveTab(): LiveTab {
  if (sharedTab) return sharedTab;
  const name = `lightdesk live ${TAB_MESSAGE_VERSION} ${apiPath("/")}`;
  const channel = typeof BroadcastChannel === "undefined" ? undefined : new BroadcastChannel(name);
  const tab = createLiveTab({
    // Absent without https.
    locks: "locks" in navigator ? navigator.locks : undefined,
    channel,
    name,
    request: (path, init) => fetch(apiPath(path), { ...init, credentials: "same-origin", cache: "no-store" }),
  });
  void tab.start();
  if (document.visibilityState === "hidden") tab.setHidden(true);
  document.addEventListener("visibilitychange", () => {
    tab.setHidden(document.visibilityState === "hidden");
    if (document.visibilityState !== "hidden") tab.wake();
  });
  for (const change of ["online", "offline"]) window.addEventListener(change, () => tab.reconnect());
  sharedTab = tab;
  return tab;
}

export function watchLive<Data>(path: `/${string}`, receive: (message: LiveMessage<Data>) => void): () => void {
  return getLiveTab().watch(path, receive);
}

export function restartLive(): void {
  getLiveTab().restart();
}
