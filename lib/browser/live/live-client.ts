// Delivers live updates to the tabs of a browser over one shared stream, because HTTP/1.1 allows only six connections.
// A SharedWorker reads the stream. Without one, the tab that holds a Web Lock is the leader: it reads the stream and forwards the events over a
// BroadcastChannel. If locks are missing too (such as Chrome for Android without https), each visible tab opens its own stream.

import { apiPath, isEmbedded } from "../urls";
import { createLiveTab, type LiveMessage, type LiveTab } from "./live-tab";

/** Increase this with each change to the messages, because tabs of an earlier version remain open during an upgrade. */
const MESSAGE_VERSION = 3;

function startLiveWorker(onError: () => void): MessagePort {
  // The bundler recognizes only this exact expression.
  const worker = new SharedWorker(new URL("./live-worker.ts", import.meta.url), { type: "module", name: "live updates" });
  worker.onerror = onError;
  return worker.port;
}

let sharedTab: LiveTab | undefined;

function getLiveTab(): LiveTab {
  if (sharedTab) return sharedTab;
  const name = `lightdesk live ${MESSAGE_VERSION} ${apiPath("/")}`;
  const tab = createLiveTab({
    // Browsers may not send an embedded page's cookies from a worker.
    startWorker: typeof SharedWorker === "undefined" || isEmbedded() ? undefined : startLiveWorker,
    // Undefined without https.
    locks: "locks" in navigator ? navigator.locks : undefined,
    channel: typeof BroadcastChannel === "undefined" ? undefined : new BroadcastChannel(name),
    name,
    request: (path, init) => fetch(apiPath(path), { ...init, credentials: "same-origin", cache: "no-store" }),
  });
  tab.start();
  if (document.visibilityState === "hidden") tab.setHidden(true);
  document.addEventListener("visibilitychange", () => {
    tab.setHidden(document.visibilityState === "hidden");
    if (document.visibilityState !== "hidden") tab.wake();
  });
  window.addEventListener("online", () => void tab.setOnline(true));
  window.addEventListener("offline", () => void tab.setOnline(false));
  window.addEventListener("pagehide", () => tab.leave());
  window.addEventListener("pageshow", ({ persisted }) => persisted && tab.resume());
  sharedTab = tab;
  return tab;
}

export function watchLive<Data>(path: `/${string}`, receive: (message: LiveMessage<Data>) => void): () => void {
  return getLiveTab().watch(path, receive);
}

export function restartLive(): void {
  getLiveTab().restart();
}
