// The live updates of one tab. The tabs of a browser share one stream, since HTTP/1.1 allows six connections: the tab that holds a lock
// leads and passes the events on by a BroadcastChannel. A browser without locks (a console without https) has a stream for each tab that
// is shown. A SharedWorker would need a script outside the bundle, and Chrome for Android has none.

import { isTerminalWord } from "@/lib/contract/jobs/job-list";
import { isObject, type JsonObject, objectOf, textOf } from "@/lib/contract/json/json";
import { parseExactJson } from "@/lib/contract/json/parse-json";
import { recordSkipped } from "@/lib/contract/json/readers";
import { isLiveEvent, LIVE_PATH, type LiveEvent, MAX_TOPICS, getPathTopic, parseTopic, getRowId, rowFields, getTopicPath } from "@/lib/contract/live";
import { type ApiResponse, callApi, notifyResponse, onResponse } from "../api";
import { type ApiFailure, isFailure } from "../read-failure";
import { apiPath } from "../urls";
import { liveState } from "./live-state";
import { createLiveStream, type LiveStream, type StreamEvent } from "./live-stream";

/** A hidden tab that is soon shown again keeps its topics. */
const HIDE_MS = 10_000;
const CHECK_MS = 5_000;
/** A leader tab that the browser froze sends nothing. */
const MAX_SILENCE_MS = 30_000;
const ALIVE_MS = 10_000;

/** A higher number after each change of `TabMessage`: tabs of an earlier version stay open during an upgrade. */
const TAB_MESSAGES = 2;
/** Messages between the tabs of a browser. */
type TabMessage =
  | { to: "leader"; kind: "topics"; tab: string; topics: readonly string[]; newTopics: readonly string[] }
  | { to: "leader"; kind: "wake" | "reconnect" | "restart" }
  | { to: "tabs"; kind: "lead" }
  | { to: "tabs"; kind: "event"; event: StreamEvent }
  | { to: "tabs"; kind: "state"; isLive: boolean }
  | { to: "tabs"; kind: "failure"; failure: ApiFailure; topics: readonly string[] };

export type LiveMessage<Data> = { answer: Data } | { failure: ApiFailure };
/** Declared as a method for its bivariance: each receiver gets only responses of its own path. */
type Receiver = { receive(message: LiveMessage<unknown>): void };
type RowChange = Extract<LiveEvent, { event: "job.updated" | "job.progress" }>;
/** `sinceMs`, `snapshotMs`: times of the first and the last snapshot; `changes`: the newest change of each row since the last. */
type TopicValue = { answer: unknown; sinceMs: number; snapshotMs: number; changes: Map<string, { change: RowChange; ms: number }> };
type WatchedTopic = { receivers: Set<Receiver>; isDelivered?: true; isReadAgain?: boolean; current?: TopicValue };

/** `locks`, `channel`: undefined where the browser has none. */
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
  const watched = new Map<string, WatchedTopic>();
  /** On the leader: the topics of each tab, the most recent tab last. */
  const tabs = new Map<string, readonly string[]>();
  /** On the leader: a stream, and polling for topics beyond its limit. */
  const streams: LiveStream[] = [];
  let lastId: string | undefined;
  let leaderMs = Date.now();
  let isHidden = false;
  let hideTimer: ReturnType<typeof setTimeout> | undefined;
  let isPlanned = false;
  let isReady = false;
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
      const item = message.event.topic === undefined ? undefined : watched.get(message.event.topic);
      if (item) applyEvent(item, message.event);
    }
  }

  function applyFailure({ failure, topics }: Extract<TabMessage, { kind: "failure" }>): void {
    const { status } = failure;
    notifyResponse({ path: LIVE_PATH, method: "GET", status, failure });
    // The session banner shows these.
    if (status === 401 || status === 403) return;
    for (const [topic, one] of watched) if (topics.includes(topic)) deliver(one, { failure });
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
      const key = `${liveEvent.event} ${changedId(liveEvent)}`;
      item.current.changes.delete(key);
      item.current.changes.set(key, { change: liveEvent, ms });
      item.current.answer = applyChange(item.current.answer, liveEvent);
    } else return;
    deliver(item, { answer: item.current.answer });
  }

  /** A screen's own read is newer than earlier events, but SWR drops it if an event arrives meanwhile. */
  function applyAnswer({ path, method, value, startedMs = Date.now() }: ApiResponse): void {
    const topic = method === "GET" && value !== undefined ? getPathTopic(path) : undefined;
    const item = topic === undefined ? undefined : watched.get(topic);
    if (topic === undefined || !item?.isDelivered) return;
    const { current } = item;
    if (!current) return deliver(item, { answer: value });
    if (current.snapshotMs >= startedMs) return void (current.sinceMs < startedMs && readAgain(item, topic));
    current.answer = value;
    for (const { change, ms } of current.changes.values()) if (ms >= startedMs) current.answer = applyChange(current.answer, change);
    deliver(item, { answer: current.answer });
  }

  /** Which one is newer is unknown if a snapshot arrived during a screen's own read. */
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

  function topicsNow(): readonly string[] {
    return [...watched.keys()].filter((topic) => !isHidden || (isShared && isForHidden(topic)));
  }

  function sendTopics(): void {
    if (!isReady) return;
    const topics = topicsNow();
    const newTopics = topics.filter((topic) => watched.get(topic)?.current === undefined);
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

  /** Leads until this tab is closed, or until another takes over. */
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
    stopListening = onResponse(applyAnswer);
    isReady = !isShared;
    if (!isShared) return startStreams();
    channel.onmessage = ({ data }: MessageEvent<TabMessage>) => {
      if (data.to === "tabs") handleForTabs(data);
      else if (streams.length > 0) handleForLeader(data);
    };
    // Each tab holds this lock while open. When the leader gets it, the tab is gone.
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
    }, CHECK_MS);
  }

  return {
    start,
    watch<Data>(path: string, receive: (message: LiveMessage<Data>) => void): () => void {
      const topic = getPathTopic(path);
      if (topic === undefined) return () => undefined;
      const item: WatchedTopic = watched.get(topic) ?? { receivers: new Set() };
      watched.set(topic, item);
      const receiver: Receiver = { receive };
      item.receivers.add(receiver);
      planTopics();
      return () => {
        item.receivers.delete(receiver);
        if (item.receivers.size === 0 && watched.get(topic) === item) watched.delete(topic);
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
        // Changes may be missed from now on.
        const nextTopics = topicsNow();
        for (const [topic, one] of watched) if (hidden && !nextTopics.includes(topic)) one.current = undefined;
        sendTopics();
      };
      if (hidden) hideTimer = setTimeout(apply, HIDE_MS);
      else apply();
    },
  };
}

/** For the titles of hidden tabs, and the end of the session. */
const hiddenTopics: readonly (string | undefined)[] = ["counts", "queue", "batches", "session"];
const isForHidden = (topic: string) => hiddenTopics.includes(parseTopic(topic)?.name);

function changedId({ event, data }: RowChange): string | undefined {
  return event === "job.updated" ? getRowId(data.job) : data.id;
}

/** Services may restart these jobs. */
const restartable: readonly unknown[] = ["retryable_error", "lost"];

function hasEnded(row: JsonObject): boolean {
  return !restartable.includes(row.status ?? row.state) && isTerminalWord(textOf(row.status) ?? textOf(row.state) ?? "");
}

/** Unchanged if the answer lacks the row. An ended job stays ended: earlier events may arrive after it. */
function applyChange(response: unknown, event: RowChange): unknown {
  if (!isObject(response)) return response;
  const { data } = event;
  const id = changedId(event);
  const change = (row: JsonObject): JsonObject => {
    if (getRowId(row) !== id || (hasEnded(row) && (event.event === "job.progress" || !hasEnded(event.data.job)))) return row;
    if (event.event === "job.updated") return event.data.job;
    return { ...row, progress: { start_time: objectOf(row.progress)?.start_time, ...event.data.progress } };
  };
  const name = parseTopic(data.topic)?.name;
  if (name === "job") return change(response);
  const lists = (name && rowFields[name]) ?? [];
  const changed = lists.flatMap((list) => {
    const rows = response[list];
    return Array.isArray(rows) ? [[list, rows.map((row: unknown) => (isObject(row) ? change(row) : row))] as const] : [];
  });
  return { ...response, ...Object.fromEntries(changed) };
}

let shared: LiveTab | undefined;

function liveTab(): LiveTab {
  if (shared) return shared;
  const name = `lightdesk live ${TAB_MESSAGES} ${apiPath("/")}`;
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
  shared = tab;
  return tab;
}

export function watchLive<Data>(path: `/${string}`, receive: (message: LiveMessage<Data>) => void): () => void {
  return liveTab().watch(path, receive);
}

export function restartLive(): void {
  liveTab().restart();
}
