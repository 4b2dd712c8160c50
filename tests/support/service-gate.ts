// A proxy in front of a service that records requests and can leave some of them unanswered. WebSockets pass.
import { type ServerResponse } from "node:http";
import { passUpgrade } from "./proxy";
import { type ReceivedRequest, sendJsonResponse, startTestServer, type TestServer } from "./test-server";

/** "lost": not forwarded. "unanswered": forwarded, but its response is withheld. */
type Fate = "lost" | "unanswered" | undefined;

/** `onAnswer`: receives the status of each response. */
export function startServiceGate(
  service: { url: string },
  fateOf: (request: ReceivedRequest) => Fate,
  onAnswer: (request: ReceivedRequest, status: number) => void = () => undefined,
): Promise<TestServer> {
  const pass = async (request: ReceivedRequest, response: ServerResponse) => {
    const { method, url, headers, body } = request;
    const fate = fateOf(request);
    if (fate === "lost") return;
    const passed = { "x-api-key": String(headers["x-api-key"]), "content-type": String(headers["content-type"] ?? "application/json") };
    const init = { method, headers: passed, ...(method !== "GET" && { body: new Uint8Array(body) }) };
    const upstream = await fetch(service.url + url, init).then(
      async (response) => ({ answer: response, read: Buffer.from(await response.arrayBuffer()) }),
      () => undefined,
    );
    // The connection to the service broke, so this one is closed too.
    if (!upstream) return void response.destroy();
    const { answer, read } = upstream;
    onAnswer(request, answer.status);
    if (fate === "unanswered") return;
    const type = answer.headers.get("content-type") ?? "application/json";
    if (type.startsWith("application/json")) sendJsonResponse(response, JSON.parse(read.toString()), answer.status);
    else response.writeHead(answer.status, { "content-type": type }).end(read);
  };
  return startTestServer(pass, (request, socket, head) => {
    const { hostname, port, host } = new URL(service.url);
    passUpgrade(request, socket, head, { hostname, port, url: request.url ?? "/", sent: { ...request.headers, host } });
  });
}

export function isPrompt({ method, url }: ReceivedRequest): boolean {
  return method === "POST" && url.startsWith("/api/prompt");
}
