// A proxy in front of a service that records requests and can leave some of them unanswered. It forwards WebSockets.
import { type ServerResponse } from "node:http";
import { forwardUpgrade } from "./proxy";
import { type ReceivedRequest, sendJsonResponse, startTestServer, type TestServer } from "./test-server";

/** "lost": not forwarded. "unanswered": forwarded, but its response is withheld. */
type GateFault = "lost" | "unanswered" | undefined;

/** `onResponse` receives the status of each response. */
export function startServiceGate(
  service: { url: string },
  getFault: (request: ReceivedRequest) => GateFault,
  onResponse: (request: ReceivedRequest, status: number) => void = () => undefined,
): Promise<TestServer> {
  const forward = async (request: ReceivedRequest, response: ServerResponse) => {
    const { method, url, headers, body } = request;
    const fault = getFault(request);
    if (fault === "lost") return;
    const forwardedHeaders = {
      "x-api-key": String(headers["x-api-key"]),
      "content-type": String(headers["content-type"] ?? "application/json"),
    };
    const init = { method, headers: forwardedHeaders, ...(method !== "GET" && { body: new Uint8Array(body) }) };
    const upstream = await fetch(service.url + url, init).then(
      async (upstreamResponse) => ({ upstreamResponse, bytes: Buffer.from(await upstreamResponse.arrayBuffer()) }),
      () => undefined,
    );
    // The connection to the service broke, so this one is closed too.
    if (!upstream) return void response.destroy();
    const { upstreamResponse, bytes } = upstream;
    onResponse(request, upstreamResponse.status);
    if (fault === "unanswered") return;
    const type = upstreamResponse.headers.get("content-type") ?? "application/json";
    if (type.startsWith("application/json")) sendJsonResponse(response, JSON.parse(bytes.toString()), upstreamResponse.status);
    else response.writeHead(upstreamResponse.status, { "content-type": type }).end(bytes);
  };
  return startTestServer(forward, (request, socket, head) => {
    const { hostname, port, host } = new URL(service.url);
    forwardUpgrade(request, socket, head, { hostname, port, url: request.url ?? "/", headers: { ...request.headers, host } });
  });
}

export function isPrompt({ method, url }: ReceivedRequest): boolean {
  return method === "POST" && url.startsWith("/api/prompt");
}
