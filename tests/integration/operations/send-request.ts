// Sends requests with the console's public host name to a local port.
import { type IncomingHttpHeaders, request } from "node:http";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";

export const HOST_NAME = "desk.example.com";
export const ORIGIN = `http://${HOST_NAME}`;

type RequestOptions = {
  headers?: Record<string, string>;
  json?: unknown;
  form?: Record<string, string>;
  body?: { type: string; length: number; pieces: Iterable<Buffer> };
};

/** Opens a new connection. Sends the public host name unless the headers contain another. */
export function sendRequest(port: number, path: string, { headers, json, form, body }: RequestOptions = {}) {
  const text = json !== undefined ? JSON.stringify(json) : form && String(new URLSearchParams(form));
  const type = body?.type ?? (json !== undefined ? "application/json" : "application/x-www-form-urlencoded");
  const length = body?.length ?? Buffer.byteLength(text ?? "");
  const hasBody = body !== undefined || text !== undefined;
  const host = headers?.host ?? HOST_NAME;
  const allHeaders = {
    host,
    ...(hasBody && { origin: `http://${host}`, "content-type": type, "content-length": String(length) }),
    ...headers,
  };
  return new Promise<{ status: number; headers: IncomingHttpHeaders; text: string; bytes: Buffer }>((resolve, reject) => {
    const options = { host: "127.0.0.1", port, path, method: hasBody ? "POST" : "GET", headers: allHeaders, agent: false as const };
    const clientRequest = request(options, async (response) => {
      const bytes = await buffer(response);
      resolve({ status: response.statusCode ?? 0, headers: response.headers, text: bytes.toString("utf8"), bytes });
    });
    clientRequest.on("error", reject);
    if (body) Readable.from(body.pieces).pipe(clientRequest);
    else clientRequest.end(text);
  });
}
