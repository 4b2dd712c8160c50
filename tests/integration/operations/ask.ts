// Requests as people's browsers send them: to the host name of the console, whatever answers at the port.
import { request, type IncomingHttpHeaders } from "node:http";
import { Readable } from "node:stream";

export const HOST_NAME = "desk.example.com";
export const ORIGIN = `http://${HOST_NAME}`;

type Asked = {
  headers?: Record<string, string>;
  json?: unknown;
  form?: Record<string, string>;
  body?: { type: string; length: number; pieces: Iterable<Buffer> };
};

/** Over a new connection, with the public host name. */
export function ask(at: number, path: string, { headers, json, form, body }: Asked = {}) {
  const text = json !== undefined ? JSON.stringify(json) : form && String(new URLSearchParams(form));
  const type = body?.type ?? (json !== undefined ? "application/json" : "application/x-www-form-urlencoded");
  const length = body?.length ?? Buffer.byteLength(text ?? "");
  const sends = body !== undefined || text !== undefined;
  const sent = { host: HOST_NAME, ...(sends && { origin: ORIGIN, "content-type": type, "content-length": String(length) }), ...headers };
  return new Promise<{ status: number; headers: IncomingHttpHeaders; text: string }>((resolve, reject) => {
    const options = { host: "127.0.0.1", port: at, path, method: sends ? "POST" : "GET", headers: sent, agent: false as const };
    const asked = request(options, async (answer) => {
      let text = "";
      for await (const piece of answer.setEncoding("utf8")) text += String(piece);
      resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text });
    });
    asked.on("error", reject);
    if (body) Readable.from(body.pieces).pipe(asked);
    else asked.end(text);
  });
}
