// Reads live updates for all tabs of a browser. Runs in a SharedWorker, or in one of the tabs.

import { MAX_TOPICS } from "@/lib/contract/live";
import { type ApiFailure } from "../api-failure";
import { createLiveStream, type LiveStream, type StreamEvent, type StreamOptions } from "./live-stream";

/** `newTopics` need a snapshot. */
export type LeaderMessage =
  | { to: "leader"; kind: "topics"; tab: string; topics: readonly string[]; newTopics: readonly string[] }
  | { to: "leader"; kind: "close"; tab: string }
  | { to: "leader"; kind: "wake" | "reconnect" | "restart" };
/** `lead`: a new leader requests the tabs' topics. */
export type TabsMessage =
  | { to: "tabs"; kind: "lead" }
  | { to: "tabs"; kind: "event"; event: StreamEvent }
  | { to: "tabs"; kind: "state"; isLive: boolean }
  | { to: "tabs"; kind: "failure"; failure: ApiFailure; topics: readonly string[] };

const HEARTBEAT_INTERVAL_MS = 10_000;

export type LiveLeader = ReturnType<typeof createLiveLeader>;

type LeaderDependencies = Pick<StreamOptions, "request" | "times" | "lastId"> & {
  send: (message: TabsMessage) => void;
  onNewTab?: (tab: string) => void;
};

export function createLiveLeader({ request, times, lastId, send, onNewTab }: LeaderDependencies) {
  /** The topics of each tab, with the most recent tab last. */
  const topicsByTab = new Map<string, readonly string[]>();
  /** The first one streams. The others poll the topics beyond its limit. */
  const streams: LiveStream[] = [];
  let isLive = false;
  let lastSentMs = Date.now();
  addStream();
  /** Lets tabs detect an unresponsive leader. */
  const heartbeat = setInterval(() => {
    if (Date.now() - lastSentMs > HEARTBEAT_INTERVAL_MS) sendAndRecord({ to: "tabs", kind: "state", isLive });
  }, HEARTBEAT_INTERVAL_MS / 2);

  function sendAndRecord(message: TabsMessage): void {
    lastSentMs = Date.now();
    send(message);
  }

  function addStream(): void {
    const isFirst = streams.length === 0;
    const stream = createLiveStream({
      request,
      times,
      lastId: isFirst ? lastId : undefined,
      canStream: isFirst,
      onEvent: (event) => sendAndRecord({ to: "tabs", kind: "event", event }),
      onFailure: (failure, topics) => sendAndRecord({ to: "tabs", kind: "failure", failure, topics }),
      onState: (nextIsLive) => {
        if (!isFirst) return;
        isLive = nextIsLive;
        sendAndRecord({ to: "tabs", kind: "state", isLive });
      },
    });
    streams.push(stream);
  }

  function updateStreams(newTopics: readonly string[] = []): void {
    const recentTopics = [...new Set([...topicsByTab.values()].reverse().flat())];
    while (streams.length * MAX_TOPICS < recentTopics.length) addStream();
    streams.forEach((stream, index) => stream.setTopics(recentTopics.slice(index * MAX_TOPICS, (index + 1) * MAX_TOPICS), newTopics));
  }

  function removeTab(tab: string): void {
    if (topicsByTab.delete(tab)) updateStreams();
  }

  return {
    handle(message: LeaderMessage): void {
      if (message.kind === "close") return removeTab(message.tab);
      if (message.kind !== "topics") return streams.forEach((stream) => stream[message.kind]());
      const { tab, topics, newTopics } = message;
      if (!topicsByTab.delete(tab)) {
        onNewTab?.(tab);
        // The next change of the state may be far away.
        sendAndRecord({ to: "tabs", kind: "state", isLive });
      }
      topicsByTab.set(tab, topics);
      updateStreams(newTopics);
    },
    removeTab,
    stop(): void {
      clearInterval(heartbeat);
      for (const stream of streams.splice(0)) stream.close();
      topicsByTab.clear();
    },
  };
}
