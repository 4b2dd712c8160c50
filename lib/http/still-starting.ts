// What a console answers between its first open socket and its first page: 503, for people as a page that reloads by itself.
import { randomUUID } from "node:crypto";
import { type IncomingMessage, type ServerResponse } from "node:http";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { isForPeople, plainPage } from "./plain-page";

const AGAIN_SECONDS = 1;

const page = plainPage({
  title: "Lightdesk is starting",
  text: "This page opens by itself in a moment.",
  head: `<meta http-equiv="refresh" content="${AGAIN_SECONDS}">\n`,
});

export const starting = { code: "STARTING", message: "Lightdesk is starting. Ask again in a moment." };

export function stillStarting(request: IncomingMessage, response: ServerResponse): void {
  const isPage = isForPeople(request);
  const body = isPage ? page : writeExactJson({ ...starting, request_id: randomUUID() });
  response
    .writeHead(503, {
      "content-type": isPage ? "text/html; charset=utf-8" : "application/json",
      "content-length": Buffer.byteLength(body),
      "cache-control": "no-store",
      "retry-after": String(AGAIN_SECONDS),
    })
    .end(request.method === "HEAD" ? undefined : body);
}
