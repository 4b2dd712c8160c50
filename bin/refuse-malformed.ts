// An address whose path is not encoded as it should be, refused before Next sees it: Next answers it as a fault of its own.
// Guarantees: a page for people and the envelope of every other refusal for programs, both with an id; well-formed addresses are left alone.
import { randomUUID } from "node:crypto";
import { type IncomingMessage, type ServerResponse } from "node:http";
import { isForPeople, plainPage } from "./plain-page";

const page = plainPage({
  title: "There is no such page",
  text: "The address is not encoded as it should be: a part of it was cut off or changed.",
  more: '<p><a href="/">Open Lightdesk</a></p>\n',
});

/** True when it has answered. */
export function refuseMalformed(request: IncomingMessage, response: ServerResponse): boolean {
  try {
    decodeURIComponent(request.url?.split(/[?#]/)[0] ?? "");
    return false;
  } catch {
    const id = randomUUID();
    const isPage = isForPeople(request);
    const said = { code: "BAD_REQUEST", message: "The address is not encoded as it should be.", request_id: id };
    const type = isPage ? "text/html; charset=utf-8" : "application/json";
    const headers = { "content-type": type, "cache-control": "no-store", "x-content-type-options": "nosniff" };
    // A body, if there is one, is not read.
    response.writeHead(400, { ...headers, "x-request-id": id, connection: "close" }).end(isPage ? page : JSON.stringify(said));
    return true;
  }
}
