// A fake console with only live events, over HTTP.
import { createServer, type ServerResponse } from "node:http";
import { type AddressInfo } from "node:net";
import { LIVE_PATH } from "@/lib/contract/live";

export type StreamRequest = { topics: string[]; newTopics: string[]; lastId?: string; isOneAnswer: boolean };
export type Reply = (response: ServerResponse, request: StreamRequest) => void;

export const line = (event: string, data: unknown, id?: string) =>
  `event: ${event}\n${id === undefined ? "" : `id: ${id}\n`}data: ${JSON.stringify(data)}\n\n`;
export const snapshot = (topic: string, value: unknown, id?: string) => line("snapshot", { topic, atMs: 1, value }, id);

export const openStream = (response: ServerResponse, ...lines: string[]) => {
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.write([line("hello", { heartbeatMs: 15_000 }), ...lines].join(""));
};

/** `reply` responds to each request; it can be replaced. */
export async function startEventServer(reply: Reply) {
  const state = { reply, streamRequests: new Array<StreamRequest>(), open: new Set<ServerResponse>() };
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://console");
    if (pathname !== LIVE_PATH) return void response.writeHead(200, { "content-type": "text/html" }).end("<html>Sign in</html>");
    const lastId = request.headers["last-event-id"];
    const streamRequest: StreamRequest = {
      topics: searchParams.getAll("topic"),
      newTopics: searchParams.getAll("new"),
      isOneAnswer: searchParams.get("format") === "json",
      ...(typeof lastId === "string" && { lastId }),
    };
    state.streamRequests.push(streamRequest);
    state.open.add(response);
    response.on("close", () => state.open.delete(response));
    state.reply(response, streamRequest);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port }: AddressInfo = Object(server.address());
  return {
    state,
    request: (path: string, init: RequestInit) => fetch(`http://127.0.0.1:${port}${path}`, init),
    stop: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}
