// A WebSocket to /ws that records its messages. The test that opens it closes it.
import { once } from "node:events";
import { WebSocket } from "ws";
import { until } from "./until";

export type ReceivedMessage = { type: string; data: Record<string, unknown> };
export type EventSocket = Awaited<ReturnType<typeof openEventSocket>>;

/** `url`: the server's URL with the path and query of the socket. Rejects with the HTTP status if the upgrade is rejected. */
export async function openEventSocket(url: string, headers: Record<string, string> = {}) {
  const socket = new WebSocket(url.replace(/^http/, "ws"), { headers });
  const received: ReceivedMessage[] = [];
  const previews: Buffer[] = [];
  socket.on("message", (message, isBinary) => {
    if (isBinary) previews.push(message as Buffer);
    else received.push(JSON.parse((message as Buffer).toString("utf8")) as ReceivedMessage);
  });
  await once(socket, "open");
  return {
    socket,
    received,
    /** The binary messages. */
    previews,
    /** Returns the messages about one job, in order. */
    getMessages: (id: string) => received.filter(({ data }) => data.prompt_id === id),
    /** Waits for a job's final message. */
    waitForEnd: (id: string) =>
      until(`job ${id} has ended`, () =>
        received.some(({ type, data }) => type === "executing" && data.node === null && data.prompt_id === id),
      ),
    async close() {
      if (socket.readyState === WebSocket.CLOSED) return;
      socket.close();
      await once(socket, "close");
    },
  };
}

/** Returns the HTTP status of a rejected WebSocket upgrade, or undefined if the socket opens. */
export async function getRefusalStatus(url: string, headers: Record<string, string> = {}): Promise<number | undefined> {
  const socket = new WebSocket(url.replace(/^http/, "ws"), { headers });
  socket.on("error", () => undefined);
  return new Promise((resolve) => {
    socket.on("unexpected-response", (_request, response) => {
      response.resume();
      resolve(response.statusCode);
      socket.terminate();
    });
    socket.on("open", () => {
      socket.close();
      resolve(undefined);
    });
  });
}
