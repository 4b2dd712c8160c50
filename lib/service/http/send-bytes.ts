// Stored bytes as an answer: streamed, in ranges, with the hash as ETag. Content-addressed bytes never change.
// Must never let markup or script open in a page: it goes out as an attachment, sandboxed, and never sniffed.

import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { type Readable } from "node:stream";
import { isServedInline } from "../assets/media-type";
import { ServiceError } from "../service-error";

export type BytesToSend = {
  path: string;
  mediaType: string;
  etag: string;
  fileName: string;
  disposition?: "attachment" | "inline";
  /** The address names the content itself, so what is fetched once stays true. */
  immutable: boolean;
};

export async function sendBytes(request: Request, file: BytesToSend): Promise<Response> {
  const etag = `"${file.etag}"`;
  const headers = new Headers({
    etag,
    "accept-ranges": "bytes",
    "cache-control": file.immutable ? "private, max-age=31536000, immutable" : "private, no-cache",
    "x-content-type-options": "nosniff",
    "content-security-policy": "default-src 'none'; sandbox",
  });
  if (matches(request.headers.get("if-none-match"), etag)) return new Response(null, { status: 304, headers });

  const size = await sizeOf(file.path);
  headers.set("content-type", contentType(file.mediaType));
  headers.set("content-disposition", disposition(file));
  const range = readRange(request.headers, size, etag);
  if (range === "unsatisfiable") {
    headers.set("content-range", `bytes */${size}`);
    return new Response(null, { status: 416, headers });
  }
  const { start, end } = range ?? { start: 0, end: size - 1 };
  headers.set("content-length", String(end - start + 1));
  if (range) headers.set("content-range", `bytes ${start}-${end}/${size}`);
  const body =
    request.method === "HEAD" || size === 0 ? null : toWeb(createReadStream(file.path, { start, end, highWaterMark: 256 * 1024 }));
  return new Response(body, { status: range ? 206 : 200, headers });
}

async function sizeOf(path: string): Promise<number> {
  try {
    return (await stat(path)).size;
  } catch {
    throw new ServiceError("NOT_FOUND", "The bytes of this file are missing from the store.");
  }
}

/** One range; several at once are answered whole, which the standard allows (RFC 9110, 14.2). */
function readRange(headers: Headers, size: number, etag: string): { start: number; end: number } | "unsatisfiable" | undefined {
  const match = /^bytes=(\d*)-(\d*)$/.exec(headers.get("range")?.trim() ?? "");
  const condition = headers.get("if-range");
  if (!match || (match[1] === "" && match[2] === "") || (condition !== null && condition !== etag)) return undefined;
  const [, first = "", last = ""] = match;
  const start = first === "" ? Math.max(0, size - Number(last)) : Number(first);
  const end = first === "" || last === "" ? size - 1 : Math.min(Number(last), size - 1);
  if (first !== "" && last !== "" && Number(last) < start) return undefined;
  return start >= size || (first === "" && Number(last) === 0) ? "unsatisfiable" : { start, end };
}

function matches(header: string | null, etag: string): boolean {
  if (header === null) return false;
  return header.split(",").some((one) => one.trim() === "*" || one.trim().replace(/^W\//, "") === etag);
}

function contentType(mediaType: string): string {
  return mediaType.startsWith("text/") || mediaType === "application/json" ? `${mediaType}; charset=utf-8` : mediaType;
}

/** RFC 6266: a plain name for old readers, the real one beside it. */
function disposition(file: BytesToSend): string {
  const kind = isServedInline(file.mediaType) ? (file.disposition ?? "inline") : "attachment";
  const plain = file.fileName.replace(/[^\x20-\x7e]|["\\%]/g, "_");
  return `${kind}; filename="${plain}"; filename*=UTF-8''${encodeURIComponent(file.fileName).replace(/['()*]/g, (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`)}`;
}

/** Reads only as fast as it is read from; a reader that goes away closes the file. */
export function toWeb(stream: Readable): ReadableStream<Uint8Array> {
  const source = stream.iterator({ destroyOnReturn: true });
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await source.next();
        if (done) controller.close();
        else if (value instanceof Uint8Array) controller.enqueue(value);
      },
      cancel() {
        stream.destroy();
      },
    },
    { highWaterMark: 0 },
  );
}
