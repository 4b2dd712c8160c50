// What a console answers between its first open socket and its first page: 503, to people as a page that asks again by itself.
import { randomUUID } from "node:crypto";
import { type IncomingMessage, type ServerResponse } from "node:http";

const AGAIN_SECONDS = 1;

const page = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<meta http-equiv="refresh" content="${AGAIN_SECONDS}">
<title>Lightdesk is starting</title>
<style>body{display:grid;place-content:center;min-height:90vh;margin:0;font:14px system-ui,sans-serif;text-align:center}</style>
<h1 style="font-size:16px">Lightdesk is starting</h1>
<p>This page opens by itself in a moment.</p>
</html>
`;

const said = { code: "STARTING", message: "Lightdesk is starting. Ask again in a moment." };

export function stillStarting(request: IncomingMessage, response: ServerResponse): void {
  const isForPeople = request.headers.accept?.includes("text/html") ?? false;
  const body = isForPeople ? page : JSON.stringify({ ...said, request_id: randomUUID() });
  response
    .writeHead(503, {
      "content-type": isForPeople ? "text/html; charset=utf-8" : "application/json",
      "content-length": Buffer.byteLength(body),
      "cache-control": "no-store",
      "retry-after": String(AGAIN_SECONDS),
    })
    .end(request.method === "HEAD" ? undefined : body);
}
