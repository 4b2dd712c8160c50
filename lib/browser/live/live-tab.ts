// Watches topics in one tab. The leader, which reads the stream for all tabs, is a SharedWorker or one of the tabs.

import { parseExactJson } from "@/lib/contract/json/parse-json";
import { recordSkipped } from "@/lib/contract/json/readers";
import { getPathTopic, getTopicPath, isLiveEvent, LIVE_PATH, parseTopic } from "@/lib/contract/live";
import { type ApiResponse, callApi, notifyResponse, onResponse } from "../api";
import { type ApiFailure, isFailure, toFailure } from "../api-failure";
import { applyChange, getChangedJobId, type RowChange } from "./apply-change";
import { createLiveLeader, type LeaderMessage, type LiveLeader, type TabsMessage } from "./live-leader";
import { liveState } from "./live-state";
import { type StreamEvent, type StreamOptions } from "./live-stream";

/** A tab keeps its topics if it is hidden for less than this. */
const HIDE_DELAY_MS = 10_000;
const LEADER_CHECK_INTERVAL_MS = 5_000;
const NETWORK_CHECK_TIMEOUT_MS = 5_000;
const LEADER_TIMEOUT_MS = 30_000;
const WORKER_START_TIMEOUT_MS = 10_000;

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

/** `startWorker`, `locks` and `channel` are undefined in browsers without them. */
type LiveTabDependencies = Pick<StreamOptions, "request" | "times"> & {
  startWorker?: ((onError: () => void) => MessagePort) | undefined;
  locks?: { request(name: string, options: { steal?: boolean }, callback: () => Promise<void> | void): Promise<unknown> } | undefined;
  channel?: Pick<BroadcastChannel, "postMessage" | "onmessage" | "close"> | undefined;
  name: string;
};

export type LiveTab = ReturnType<typeof createLiveTab>;

export function createLiveTab({ startWorker, locks, channel, name, request, times }: LiveTabDependencies) {
  const id = crypto.getRandomValues(new Uint32Array(2)).join("-");
  const watchedTopics = new Map<string, WatchedTopic>();
  /** Set only in the leader tab. */
  let leader: LiveLeader | undefined;
  let workerPort: MessagePort | undefined;
  let lastId: string | undefined;
  let lastLeaderMessageMs = Date.now();
  let lastCheckMs = lastLeaderMessageMs;
  let [isHidden, isSendScheduled, isReady] = [false, false, false];
  /** `isPageOffline`: this page can't reach the console, although the worker may. */
  let [isOnline, isPageOffline] = [true, false];
  let hideTimer: ReturnType<typeof setTimeout> | undefined;
  let checkInterval: ReturnType<typeof setInterval> | undefined;
  let unsubscribe: (() => void) | undefined;

  const isShared = () => workerPort !== undefined || (locks !== undefined && channel !== undefined);
  const sendToLeader = (message: LeaderMessage) => {
    if (leader) leader.handle(message);
    else (workerPort ?? channel)?.postMessage(message);
  };
  const sendToTabs = (message: TabsMessage) => {
    channel?.postMessage(message);
    handleForTabs(message);
  };

  function handleForTabs(message: TabsMessage): void {
    lastLeaderMessageMs = Date.now();
    if (isPageOffline) return;
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

  function applyFailure({ failure, topics }: Extract<TabsMessage, { kind: "failure" }>): void {
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
    return [...watchedTopics.keys()].filter((topic) => !isHidden || (isShared() && isBackgroundTopic(topic)));
  }

  function sendTopics(): void {
    if (!isReady) return;
    const topics = listTopics();
    const newTopics = topics.filter((topic) => watchedTopics.get(topic)?.current === undefined);
    sendToLeader({ to: "leader", kind: "topics", tab: id, topics, newTopics });
  }

  function scheduleSendTopics(): void {
    if (isSendScheduled) return;
    isSendScheduled = true;
    queueMicrotask(() => {
      isSendScheduled = false;
      sendTopics();
    });
  }

  function startLeading(): void {
    leader = createLiveLeader({
      request,
      times,
      lastId,
      send: sendToTabs,
      // The lock is granted once that tab is closed.
      onNewTab: (tab) => {
        if (tab !== id) void locks?.request(`${name} ${tab}`, {}, () => leader?.removeTab(tab));
      },
    });
    sendToTabs({ to: "tabs", kind: "lead" });
  }

  function stopLeading(): void {
    leader?.stop();
    leader = undefined;
  }

  /** Leads until this tab is closed or another one takes over. */
  async function becomeLeader(shouldSteal: boolean): Promise<void> {
    await locks
      ?.request(name, { steal: shouldSteal }, () => {
        startLeading();
        return new Promise<void>(() => undefined);
      })
      .catch(() => {
        stopLeading();
        void becomeLeader(false);
      });
  }

  function start(): void {
    unsubscribe = onResponse(applyResponse);
    checkInterval = setInterval(checkLeader, LEADER_CHECK_INTERVAL_MS);
    if (startWorker) connectWorker(startWorker);
    else void startInTab();
  }

  /** Takes over if the leader's process was killed or its tab was frozen. */
  function checkLeader(): void {
    const nowMs = Date.now();
    // This tab was suspended, so the leader may have been too.
    if (nowMs - lastCheckMs > 3 * LEADER_CHECK_INTERVAL_MS) lastLeaderMessageMs = nowMs;
    lastCheckMs = nowMs;
    const isUnresponsive = nowMs - lastLeaderMessageMs > (isReady ? LEADER_TIMEOUT_MS : WORKER_START_TIMEOUT_MS);
    if (leader || isHidden || !isUnresponsive) return;
    if (workerPort) fallBackToTab();
    else if (isReady) void becomeLeader(true);
  }

  function connectWorker(openWorker: NonNullable<typeof startWorker>): void {
    try {
      workerPort = openWorker(() => isReady || fallBackToTab());
    } catch {
      // Browsers that block storage also block shared workers.
      return void startInTab();
    }
    workerPort.onmessage = ({ data }: MessageEvent<TabsMessage>) => {
      isReady = true;
      handleForTabs(data);
    };
  }

  function fallBackToTab(): void {
    workerPort?.close();
    workerPort = undefined;
    [isReady, isPageOffline] = [false, false];
    liveState.setState({ isLive: false });
    discardValues([]);
    void startInTab();
  }

  async function startInTab(): Promise<void> {
    if (!locks || !channel) {
      isReady = true;
      return startLeading();
    }
    channel.onmessage = ({ data }: MessageEvent<TabsMessage | LeaderMessage>) => {
      if (data.to === "tabs") handleForTabs(data);
      else leader?.handle(data);
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
  }

  /** Discards the values of all other topics. The tab may miss their changes until it watches them again. */
  function discardValues(nextTopics: readonly string[]): void {
    for (const [topic, watchedTopic] of watchedTopics) if (!nextTopics.includes(topic)) watchedTopic.current = undefined;
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
      stopLeading();
      workerPort?.close();
      channel?.close();
    },
    /** Call when the page is closed or enters the back/forward cache. */
    leave(): void {
      discardValues([]);
      sendToLeader({ to: "leader", kind: "close", tab: id });
    },
    /** Call when the page is restored from the back/forward cache. */
    resume(): void {
      isPageOffline = false;
      sendTopics();
    },
    restart: () => sendToLeader({ to: "leader", kind: "restart" }),
    wake(): void {
      if (isPageOffline) this.resume();
      sendToLeader({ to: "leader", kind: "wake" });
    },
    /** Call when the network changes. Also checks the page's own network: developer tools can disable it for a page but not its worker. */
    async setOnline(nextOnline: boolean): Promise<void> {
      isOnline = nextOnline;
      sendToLeader({ to: "leader", kind: "reconnect" });
      if (!workerPort) return;
      const signal = AbortSignal.timeout(NETWORK_CHECK_TIMEOUT_MS);
      const cause: unknown = isOnline
        ? undefined
        : await request("/api/health/live", { headers: {}, signal }).then(ignore, (error) => error);
      if (isOnline !== nextOnline || isPageOffline === (cause !== undefined)) return;
      isPageOffline = cause !== undefined;
      if (!isPageOffline) return sendTopics();
      discardValues([]);
      liveState.setState({ isLive: false });
      applyFailure({ to: "tabs", kind: "failure", failure: toFailure(cause), topics: listTopics() });
    },
    setHidden(hidden: boolean): void {
      clearTimeout(hideTimer);
      const applyVisibility = () => {
        if (isHidden === hidden) return;
        isHidden = hidden;
        if (hidden) discardValues(listTopics());
        sendTopics();
      };
      if (hidden) hideTimer = setTimeout(applyVisibility, HIDE_DELAY_MS);
      else applyVisibility();
    },
  };
}

const ignore = () => undefined;

/** Hidden tabs need these topics for their titles and to detect the end of the session. */
const backgroundTopics: readonly (string | undefined)[] = ["counts", "queue", "batches", "session"];
const isBackgroundTopic = (topic: string) => backgroundTopics.includes(parseTopic(topic)?.name);
