import { toFileName } from "@/lib/contract/plain-line";
import { toWebStream } from "@/lib/shared/web-stream";
import { damagedBytes, type Shown, type StoredBytes } from "../assets/blob-store";
import { isServedInline } from "../assets/media-type";
import { toRefusal } from "./answers";

type Version = { etag: string; size: number; modifiedMs: number };
type Wanted = { kind: "unchanged" } | { kind: "failed" } | { kind: "outside" } | { kind: "whole" } | Part;
type Part = { kind: "part"; start: number; end: number };

function readWanted(request: { method: string; headers: Headers }, version: Version): Wanted {
  const { headers, method } = request;
  const ifMatch = headers.get("if-match");
  if (ifMatch !== null ? !names(ifMatch, version.etag, { weakly: false }) : isNewer(headers.get("if-unmodified-since"), version))
    return { kind: "failed" };
  const ifNoneMatch = headers.get("if-none-match");
  if (ifNoneMatch !== null) {
    if (names(ifNoneMatch, version.etag, { weakly: true })) return { kind: "unchanged" };
  } else if (isNewer(headers.get("if-modified-since"), version) === false) return { kind: "unchanged" };
  const range = headers.get("range");
  if (method !== "GET" || range === null || !isStillTheSame(headers.get("if-range"), version)) return { kind: "whole" };
  return readRange(range, version.size);
}

/** One range; a request for several is answered with the whole, which the standard allows. */
function readRange(header: string, size: number): Wanted {
  const [, first = "", last = ""] = /^bytes\s*=\s*(\d*)\s*-\s*(\d*)\s*$/i.exec(header.trim()) ?? [];
  if (first === "" && last === "") return { kind: "whole" };
  const start = first === "" ? Math.max(0, size - Number(last)) : Number(first);
  const end = first === "" || last === "" ? size - 1 : Math.min(Number(last), size - 1);
  if (first !== "" && last !== "" && Number(last) < start) return { kind: "whole" };
  return start >= size || (first === "" && Number(last) === 0) ? { kind: "outside" } : { kind: "part", start, end };
}

function names(header: string, etag: string, { weakly }: { weakly: boolean }): boolean {
  return header.split(",").some((one) => {
    const tag = one.trim();
    return tag === "*" || (weakly ? tag.replace(/^W\//, "") : tag) === etag;
  });
}

function isNewer(header: string | null, version: Version): boolean | undefined {
  const since = header === null ? NaN : Date.parse(header);
  return Number.isNaN(since) ? undefined : seconds(version.modifiedMs) > seconds(since);
}

function isStillTheSame(condition: string | null, version: Version): boolean {
  if (condition === null) return true;
  if (condition.includes('"')) return condition.trim() === version.etag;
  return seconds(Date.parse(condition)) === seconds(version.modifiedMs);
}

const seconds = (ms: number) => Math.floor(ms / 1000);

type Caching = {
  etag: string;
  modifiedMs: number;
  immutable: boolean;
};
/** `storedSize`: a different size now means damage. `mayRedirect`: the client may be redirected to the bucket. */
type BytesToSend = Named &
  Omit<Caching, "etag" | "modifiedMs"> & { open: () => Promise<StoredBytes>; storedSize?: number; mayRedirect?: true } & Partial<Caching>;

/** Without an ETag or a time of its own, the file's size and time serve as its version. */
export async function sendBytes(request: Request, file: BytesToSend): Promise<Response> {
  const bytes = await file.open();
  let isHandedOver = false;
  try {
    const { size } = bytes;
    if (file.storedSize !== undefined && file.storedSize !== size) throw damagedBytes();
    const { etag = `${size.toString(36)}-${Math.floor(bytes.modifiedMs).toString(36)}`, modifiedMs = bytes.modifiedMs } = file;
    const prepared = prepare(request, { ...file, etag, modifiedMs }, size);
    if (prepared instanceof Response) return prepared;
    const { headers, status, start, end } = prepared;
    if (request.method === "HEAD" || end < start) {
      await bytes.check?.();
      return new Response(null, { status, headers });
    }
    if (file.mayRedirect && bytes.address && !request.headers.has("range")) {
      // A missing or damaged file, or a store that is away, is reported by the service.
      await bytes.check?.();
      return redirect(await bytes.address(shownBy(headers)));
    }
    const stream = await bytes.read(start, end);
    isHandedOver = true;
    return new Response(toWebStream(stream), { status, headers });
  } finally {
    if (!isHandedOver) await bytes.close();
  }
}

export function sendMade(request: Request, bytes: Uint8Array, file: Named & Caching): Response {
  const prepared = prepare(request, file, bytes.byteLength);
  if (prepared instanceof Response) return prepared;
  const { headers, status, start, end } = prepared;
  return new Response(request.method === "HEAD" ? null : new Uint8Array(bytes.subarray(start, end + 1)), { status, headers });
}

function prepare(request: Request, file: Named & Caching, size: number) {
  const etag = `"${file.etag}"`;
  const headers = new Headers({
    etag,
    "last-modified": new Date(file.modifiedMs).toUTCString(),
    "accept-ranges": "bytes",
    "cache-control": file.immutable ? "private, max-age=31536000, immutable" : "private, no-cache",
    "x-content-type-options": "nosniff",
    "content-security-policy": isServedInline(file.mediaType, file.fileName) ? SHOWN : "default-src 'none'; sandbox",
  });
  const wanted = readWanted(request, { etag, size, modifiedMs: file.modifiedMs });
  if (wanted.kind === "unchanged") return new Response(null, { status: 304, headers });
  if (wanted.kind === "failed")
    return refuse(request, "PRECONDITION_FAILED", "The file is not in the version that was asked for.", headers);
  if (wanted.kind === "outside") {
    headers.set("content-range", `bytes */${size}`);
    return refuse(request, "RANGE_NOT_SATISFIABLE", `The range lies outside the file's ${size} bytes.`, headers);
  }
  const { start, end } = wanted.kind === "part" ? wanted : { start: 0, end: size - 1 };
  headers.set("content-type", contentType(file.mediaType));
  headers.set("content-disposition", contentDisposition(file));
  headers.set("content-length", String(end - start + 1));
  if (wanted.kind === "part") headers.set("content-range", `bytes ${start}-${end}/${size}`);
  return { headers, status: wanted.kind === "part" ? 206 : 200, start, end };
}

/** The headers that a signed address can carry. `nosniff` and the sandbox cannot be signed; the store is another origin. */
function shownBy(headers: Headers): Shown {
  const say = (name: string) => headers.get(name) ?? "";
  return { mediaType: say("content-type"), disposition: say("content-disposition"), caching: say("cache-control") };
}

/** Not to be cached: the address expires, and anyone who has it can read the file. */
function redirect(location: string): Response {
  return new Response(null, { status: 302, headers: { location, "cache-control": "no-store", "referrer-policy": "no-referrer" } });
}

/** Browsers show a picture or film that is opened directly in a page of their own making. */
const SHOWN = "default-src 'none'; img-src 'self'; media-src 'self'; style-src 'unsafe-inline'; sandbox";

function refuse(request: Request, code: "PRECONDITION_FAILED" | "RANGE_NOT_SATISFIABLE", message: string, headers: Headers): Response {
  const answer = toRefusal({ code, message }, new URL(request.url).pathname);
  for (const name of ["content-range", "accept-ranges", "etag"]) {
    const value = headers.get(name);
    if (value !== null) answer.headers.set(name, value);
  }
  return answer;
}

function contentType(mediaType: string): string {
  return mediaType.startsWith("text/") || mediaType === "application/json" ? `${mediaType}; charset=utf-8` : mediaType;
}

type Named = { fileName: string; mediaType: string; disposition?: "attachment" | "inline" };

function contentDisposition(file: Named): string {
  const kind = isServedInline(file.mediaType, file.fileName) ? (file.disposition ?? "inline") : "attachment";
  // A name is not a path.
  const name = toFileName(file.fileName).replace(/[/\\]/g, "_");
  const plain = name.replace(/[^\x20-\x7e]|["%]/g, "_");
  return `${kind}; filename="${plain}"; filename*=UTF-8''${encodeURIComponent(name).replace(/['()*]/g, toPercent)}`;
}

function toPercent(letter: string): string {
  return `%${letter.charCodeAt(0).toString(16).toUpperCase()}`;
}
