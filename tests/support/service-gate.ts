// In front of a service on a port: what it is asked is remembered, and of some questions the asker gets no answer.
import { answerJson, type LittleServer, type Seen, startLittleServer } from "./little-server";

/** Not passed on; or passed on, and its answer kept back. */
type Fate = "lost" | "unanswered" | undefined;

export function startServiceGate(service: { url: string }, fateOf: (asked: Seen) => Fate): Promise<LittleServer> {
  return startLittleServer(async (asked, response) => {
    const { method, url, headers, body } = asked;
    const fate = fateOf(asked);
    if (fate === "lost") return;
    const passed = { "x-api-key": String(headers["x-api-key"]), "content-type": String(headers["content-type"] ?? "application/json") };
    const answer = await fetch(service.url + url, { method, headers: passed, ...(method !== "GET" && { body: new Uint8Array(body) }) });
    const read = Buffer.from(await answer.arrayBuffer());
    if (fate === "unanswered") return;
    const type = answer.headers.get("content-type") ?? "application/json";
    if (type.startsWith("application/json")) answerJson(response, JSON.parse(read.toString()), answer.status);
    else response.writeHead(answer.status, { "content-type": type }).end(read);
  });
}

export function isPrompt({ method, url }: Seen): boolean {
  return method === "POST" && url.startsWith("/api/prompt");
}
