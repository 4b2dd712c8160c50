// A small real HTTP server that records its requests, to fake external services.
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import { type Duplex } from "node:stream";

export type ReceivedRequest = { method: string; url: string; headers: IncomingHttpHeaders; body: Buffer };
export type TestServer = { url: string; host: string; requests: ReceivedRequest[]; close(): Promise<void> };
/** A returned promise is awaited. */
type RequestHandler = (request: ReceivedRequest, response: ServerResponse) => unknown;
export type Upgrade = (request: IncomingMessage, socket: Duplex, head: Buffer) => void;

/** `upgrade` handles WebSockets; without it they are refused. */
export async function startTestServer(respond: RequestHandler, upgrade?: Upgrade): Promise<TestServer> {
  const requests: ReceivedRequest[] = [];
  const server = createServer((request, response) => {
    void readBody(request).then(async (body) => {
      const entry = { method: request.method ?? "", url: request.url ?? "", headers: request.headers, body };
      requests.push(entry);
      await respond(entry, response);
    });
  });
  const upgradedSockets = new Set<Duplex>();
  if (upgrade)
    server.on("upgrade", (request, socket, head) => {
      upgradedSockets.add(socket.once("close", () => upgradedSockets.delete(socket)));
      upgrade(request, socket, head);
    });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("The server has no port.");
  const host = `127.0.0.1:${address.port}`;
  return {
    url: `http://${host}`,
    host,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
        for (const socket of upgradedSockets) socket.destroy();
      }),
  };
}

export function sendJsonResponse(response: ServerResponse, value: unknown, status = 200, headers: Record<string, string> = {}): void {
  response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(value));
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  // If a client disconnects midway, the body is the bytes that arrived.
  try {
    for await (const chunk of request) chunks.push(chunk);
  } catch {
    return Buffer.concat(chunks);
  }
  return Buffer.concat(chunks);
}
