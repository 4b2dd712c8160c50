// A fake console that serves only live events over HTTP.
import { createServer, type ServerResponse } from "node:http";
import { type AddressInfo } from "node:net";
import { LIVE_PATH } from "@/lib/contract/live";

export type StreamRequest = { topics: string[]; newTopics: string[]; lastId?: string; isSingleResponse: boolean };
export type Reply = (response: ServerResponse, request: StreamRequest) => void;

export const formatEvent = (event: string, data: unknown, id?: string) =>
  `event: ${event}\n${id === undefined ? "" : `id: ${id}\n`}data: ${JSON.stringify(data)}\n\n`;
export const formatSnapshot = (topic: string, value: unknown, id?: string) => formatEvent("snapshot", { topic, atMs: 1, value }, id);

export const openStream = (response: ServerResponse, ...events: string[]) => {
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.write([formatEvent("hello", { heartbeatMs: 15_000 }), ...events].join(""));
};

/** `reply` handles each request. Tests can replace it in `state`. */
export async function startEventServer(reply: Reply) {
  const state = { reply, streamRequests: new Array<StreamRequest>(), openResponses: new Set<ServerResponse>() };
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://console");
    if (pathname !== LIVE_PATH) return void response.writeHead(200, { "content-type": "text/html" }).end("<html>Sign in</html>");
    const lastId = request.headers["last-event-id"];
    const streamRequest: StreamRequest = {
      topics: searchParams.getAll("topic"),
      newTopics: searchParams.getAll("new"),
      isSingleResponse: searchParams.get("format") === "json",
      ...(typeof lastId === "string" && { lastId }),
    };
    state.streamRequests.push(streamRequest);
    state.openResponses.add(response);
    response.on("close", () => state.openResponses.delete(response));
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
