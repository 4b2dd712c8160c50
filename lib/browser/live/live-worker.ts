// The SharedWorker that reads live updates for all tabs of a browser. Each tab connects through a port.

import { toSessionlessPath } from "../urls";
import { createLiveLeader, type LeaderMessage, type TabsMessage } from "./live-leader";

const ports = new Set<MessagePort>();

const leader = createLiveLeader({
  // Embedded pages, whose paths contain a session, do not use this worker.
  request: (path, init) => fetch(toSessionlessPath(path), { ...init, credentials: "same-origin", cache: "no-store" }),
  send: (message) => {
    for (const port of ports) port.postMessage(message);
  },
});

function connectTab(port: MessagePort): void {
  let tab: string | undefined;
  const removeTab = () => {
    ports.delete(port);
    if (tab !== undefined) leader.removeTab(tab);
  };
  port.onmessage = ({ data }: MessageEvent<LeaderMessage>) => {
    if (data.kind === "close") return removeTab();
    // Adds the port again if the page was restored from the back/forward cache.
    ports.add(port);
    if (data.kind === "topics") tab = data.tab;
    leader.handle(data);
  };
  // Browsers that support this event also fire it for a crashed tab.
  port.addEventListener("close", removeTab);
  port.postMessage({ to: "tabs", kind: "lead" } satisfies TabsMessage);
}

addEventListener("connect", (event) => {
  const [port] = event instanceof MessageEvent ? event.ports : [];
  if (port) connectTab(port);
});
