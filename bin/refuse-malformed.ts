// An address whose path is not encoded as it should be, refused before Next sees it: Next answers it as a fault of its own.
// Guarantees: the envelope of every other refusal, with an id; well-formed addresses are left alone.
import { randomUUID } from "node:crypto";
import { type IncomingMessage, type ServerResponse } from "node:http";

/** True when it has answered. */
export function refuseMalformed({ url = "" }: IncomingMessage, response: ServerResponse): boolean {
  try {
    decodeURIComponent(url.split(/[?#]/)[0] ?? "");
    return false;
  } catch {
    const id = randomUUID();
    const body = { code: "BAD_REQUEST", message: "The address is not encoded as it should be.", request_id: id };
    const headers = { "content-type": "application/json", "cache-control": "no-store", "x-content-type-options": "nosniff" };
    // A body, if there is one, is not read.
    response.writeHead(400, { ...headers, "x-request-id": id, connection: "close" }).end(JSON.stringify(body));
    return true;
  }
}
