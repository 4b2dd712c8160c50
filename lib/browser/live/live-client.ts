// Delivers live updates to the tabs of a browser over one shared stream, because HTTP/1.1 allows only six connections.
// The tab that holds a lock is the leader. It forwards the events over a BroadcastChannel.
// Without https, browsers have no locks, and each visible tab opens its own stream.
// A SharedWorker would need a script outside the bundle, and Chrome for Android doesn't support it.

import { parseExactJson } from "@/lib/contract/json/parse-json";
import { recordSkipped } from "@/lib/contract/json/readers";
import { getPathTopic, getTopicPath, isLiveEvent, LIVE_PATH, MAX_TOPICS, parseTopic } from "@/lib/contract/live";
import { type ApiResponse, callApi, notifyResponse, onResponse } from "../api";
import { type ApiFailure, isFailure } from "../api-failure";
import { apiPath } from "../urls";
import { applyChange, getChangedJobId, type RowChange } from "./apply-change";
import { liveState } from "./live-state";
import { createLiveStream, type LiveStream, type StreamEvent } from "./live-stream";

/** A tab keeps its topics if it is hidden for less than this. */
const HIDE_DELAY_MS = 10_000;
const CHECK_INTERVAL_MS = 5_000;
/** Detects a leader tab that the browser froze. */
const MAX_LEADER_SILENCE_MS = 30_000;
const HEARTBEAT_INTERVAL_MS = 10_000;

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

export type LiveMessage<Data> = { response: Data } | { failure: ApiFailure };
/** Declared as a method for bivariance. Each receiver gets only values of its own path. */
type Receiver = { receive(message: LiveMessage<unknown>): void };
/** `changes`: the newest change of each row since the last snapshot. */
type TopicValue = {
  response: unknown;
  firstSnapshotMs: number;
  lastSnapshotMs: number;
  changes: Map<string, { change: RowChange; receivedMs: number }>;
};
type WatchedTopic = { receivers: Set<Receiver>; hasDelivered?: true; isRereading?: boolean; current?: TopicValue };

/** `locks` and `channel` are undefined in browsers without them. */
type LiveTabDependencies = {
  locks?: { request(name: string, options: { steal?: boolean }, callback: () => Promise<void> | void): Promise<unknown> };
  channel?: Pick<BroadcastChannel, "postMessage" | "onmessage">;
  name: string;
  request: Parameters<typeof createLiveStream>[0]["request"];
  times?: Parameters<typeof createLiveStream>[0]["times"];
};

export type LiveTab = ReturnType<typeof createLiveTab>;

export function createLiveTab({ locks, channel, name, request, times }: LiveTabDependencies) {
  const id = crypto.getRandomValues(new Uint32Array(2)).join("-");
  const watchedTopics = new Map<string, WatchedTopic>();
  /** Used by the leader: the topics of each tab, with the most recent tab last. */
  const topicsByTab = new Map<string, readonly string[]>();
  /** Used by the leader: one stream, and polling for the topics beyond its limit. */
  const streams: LiveStream[] = [];
  let lastId: string | undefined;
  let lastLeaderMessageMs = Date.now();
  let [isHidden, isSendScheduled, isReady] = [false, false, false];
  let hideTimer: ReturnType<typeof setTimeout> | undefined;
  let checkInterval: ReturnType<typeof setInterval> | undefined;
  let unsubscribe: (() => void) | undefined;

  const isShared = locks !== undefined && channel !== undefined;
  const post = (message: TabMessage) => {
    channel?.postMessage(message);
    if (message.to === "tabs") handleForTabs(message);
    else if (streams.length > 0) handleForLeader(message);
  };

  function handleForTabs(message: Extract<TabMessage, { to: "tabs" }>): void {
    lastLeaderMessageMs = Date.now();
    if (message.kind === "lead") sendTopics();
    else if (message.kind === "state") liveState.setState({ isLive: message.isLive });
    else if (message.kind === "failure") applyFailure(message);
    else {
      lastId = message.event.id ?? lastId;
      liveState.setState({ lastReceivedMs: lastLeaderMessageMs });
      const watchedTopic = message.event.topic === undefined ? undefined : watchedTopics.get(message.event.topic);
      if (watchedTopic) applyEvent(watchedTopic, message.event);
    }
  }

  function applyFailure({ failure, topics }: Extract<TabMessage, { kind: "failure" }>): void {
    const { status } = failure;
    notifyResponse({ path: LIVE_PATH, method: "GET", status, failure });
    // The session banner shows these failures.
    if (status === 401 || status === 403) return;
    for (const [topic, watchedTopic] of watchedTopics) if (topics.includes(topic)) deliver(watchedTopic, { failure });
  }

  function applyEvent(watchedTopic: WatchedTopic, { event, data }: StreamEvent): void {
    const liveEvent = { event, data: parseExactJson(data) };
    if (!isLiveEvent(liveEvent)) return;
    if (liveEvent.event === "failure") {
      const { failure } = liveEvent.data;
      if (isFailure(failure)) deliver(watchedTopic, { failure });
      return;
    }
    const receivedMs = Date.now();
    if (liveEvent.event === "snapshot") {
      const { value, unreadable = 0 } = liveEvent.data;
      const snapshot = typeof value === "object" && value !== null ? recordSkipped(value, unreadable) : value;
      watchedTopic.current = {
        response: snapshot,
        firstSnapshotMs: watchedTopic.current?.firstSnapshotMs ?? receivedMs,
        lastSnapshotMs: receivedMs,
        changes: new Map(),
      };
    } else if (watchedTopic.current && (liveEvent.event === "job.updated" || liveEvent.event === "job.progress")) {
      const key = `${liveEvent.event} ${getChangedJobId(liveEvent)}`;
      watchedTopic.current.changes.delete(key);
      watchedTopic.current.changes.set(key, { change: liveEvent, receivedMs });
      watchedTopic.current.response = applyChange(watchedTopic.current.response, liveEvent);
    } else return;
    deliver(watchedTopic, { response: watchedTopic.current.response });
  }

  /** Applies the response to a screen's own request. It is newer than earlier events, but SWR drops it if an event arrives meanwhile. */
  function applyResponse({ path, method, value, startedMs = Date.now() }: ApiResponse): void {
    const topic = method === "GET" && value !== undefined ? getPathTopic(path) : undefined;
    const watchedTopic = topic === undefined ? undefined : watchedTopics.get(topic);
    if (topic === undefined || !watchedTopic?.hasDelivered) return;
    const { current } = watchedTopic;
    if (!current) return deliver(watchedTopic, { response: value });
    if (current.lastSnapshotMs >= startedMs) return void (current.firstSnapshotMs < startedMs && rereadTopic(watchedTopic, topic));
    current.response = value;
    for (const { change, receivedMs } of current.changes.values())
      if (receivedMs >= startedMs) current.response = applyChange(current.response, change);
    deliver(watchedTopic, { response: current.response });
  }

  /** Reads the topic again. A snapshot arrived during a screen's own request, so either of them may be newer. */
  async function rereadTopic(watchedTopic: WatchedTopic, topic: string): Promise<void> {
    const path = getTopicPath(topic);
    if (watchedTopic.isRereading || path === undefined) return;
    watchedTopic.isRereading = true;
    await callApi(path);
    watchedTopic.isRereading = false;
  }

  function deliver(watchedTopic: WatchedTopic, message: LiveMessage<unknown>): void {
    watchedTopic.hasDelivered = true;
    for (const receiver of watchedTopic.receivers) receiver.receive(message);
  }

  function listTopics(): readonly string[] {
    return [...watchedTopics.keys()].filter((topic) => !isHidden || (isShared && isBackgroundTopic(topic)));
  }

  function sendTopics(): void {
    if (!isReady) return;
    const topics = listTopics();
    const newTopics = topics.filter((topic) => watchedTopics.get(topic)?.current === undefined);
    post({ to: "leader", kind: "topics", tab: id, topics, newTopics });
  }

  function scheduleSendTopics(): void {
    if (isSendScheduled) return;
    isSendScheduled = true;
    queueMicrotask(() => {
      isSendScheduled = false;
      sendTopics();
    });
  }

  function handleForLeader(message: Extract<TabMessage, { to: "leader" }>): void {
    const { kind } = message;
    if (kind !== "topics") return streams.forEach((stream) => stream[kind]());
    const { tab, topics, newTopics } = message;
    if (!topicsByTab.has(tab) && tab !== id) void locks?.request(`${name} ${tab}`, {}, () => setTabTopics([], tab));
    setTabTopics(topics, tab, newTopics);
  }

  function setTabTopics(topics: readonly string[], tab: string, newTopics: readonly string[] = []): void {
    topicsByTab.delete(tab);
    if (topics.length > 0 || tab === id) topicsByTab.set(tab, topics);
    const recentTopics = [...new Set([...topicsByTab.values()].reverse().flat())];
    while (streams.length * MAX_TOPICS < recentTopics.length) addStream();
    streams.forEach((stream, index) => stream.setTopics(recentTopics.slice(index * MAX_TOPICS, (index + 1) * MAX_TOPICS), newTopics));
  }

  function addStream(): void {
    const isFirst = streams.length === 0;
    const stream = createLiveStream({
      request,
      lastId: isFirst ? lastId : undefined,
      times,
      canStream: isFirst,
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
    topicsByTab.clear();
  }

  /** Leads until this tab is closed or another one takes over. */
  async function becomeLeader(shouldSteal: boolean): Promise<void> {
    await locks
      ?.request(name, { steal: shouldSteal }, () => {
        startStreams();
        return new Promise<void>(() => undefined);
      })
      .catch(() => {
        stopStreams();
        void becomeLeader(false);
      });
  }

  async function start(): Promise<void> {
    unsubscribe = onResponse(applyResponse);
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
    checkInterval = setInterval(() => {
      if (streams.length > 0 && Date.now() - lastLeaderMessageMs > HEARTBEAT_INTERVAL_MS)
        post({ to: "tabs", kind: "state", isLive: liveState.getState().isLive });
      else if (streams.length === 0 && !isHidden && Date.now() - lastLeaderMessageMs > MAX_LEADER_SILENCE_MS) void becomeLeader(true);
    }, CHECK_INTERVAL_MS);
  }

  return {
    start,
    watch<Data>(path: string, receive: (message: LiveMessage<Data>) => void): () => void {
      const topic = getPathTopic(path);
      if (topic === undefined) return () => undefined;
      const watchedTopic: WatchedTopic = watchedTopics.get(topic) ?? { receivers: new Set() };
      watchedTopics.set(topic, watchedTopic);
      const receiver: Receiver = { receive };
      watchedTopic.receivers.add(receiver);
      scheduleSendTopics();
      return () => {
        watchedTopic.receivers.delete(receiver);
        if (watchedTopic.receivers.size === 0 && watchedTopics.get(topic) === watchedTopic) watchedTopics.delete(topic);
        scheduleSendTopics();
      };
    },
    close(): void {
      unsubscribe?.();
      clearInterval(checkInterval);
      stopStreams();
    },
    restart: () => post({ to: "leader", kind: "restart" }),
    wake: () => post({ to: "leader", kind: "wake" }),
    reconnect: () => post({ to: "leader", kind: "reconnect" }),
    setHidden(hidden: boolean): void {
      clearTimeout(hideTimer);
      const applyVisibility = () => {
        if (isHidden === hidden) return;
        isHidden = hidden;
        // The tab may miss changes until it is visible again.
        const nextTopics = listTopics();
        for (const [topic, watchedTopic] of watchedTopics) if (hidden && !nextTopics.includes(topic)) watchedTopic.current = undefined;
        sendTopics();
      };
      if (hidden) hideTimer = setTimeout(applyVisibility, HIDE_DELAY_MS);
      else applyVisibility();
    },
  };
}

/** Hidden tabs need these topics for their titles and to detect the end of the session. */
const backgroundTopics: readonly (string | undefined)[] = ["counts", "queue", "batches", "session"];
const isBackgroundTopic = (topic: string) => backgroundTopics.includes(parseTopic(topic)?.name);

let sharedTab: LiveTab | undefined;

function getLiveTab(): LiveTab {
  if (sharedTab) return sharedTab;
  const name = `lightdesk live ${TAB_MESSAGE_VERSION} ${apiPath("/")}`;
  const channel = typeof BroadcastChannel === "undefined" ? undefined : new BroadcastChannel(name);
  const tab = createLiveTab({
    // Undefined without https.
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
  for (const eventName of ["online", "offline"]) window.addEventListener(eventName, () => tab.reconnect());
  sharedTab = tab;
  return tab;
}

export function watchLive<Data>(path: `/${string}`, receive: (message: LiveMessage<Data>) => void): () => void {
  return getLiveTab().watch(path, receive);
}

export function restartLive(): void {
  getLiveTab().restart();
}
