import { toFileName } from "@/lib/contract/plain-line";
import { parseRange, type RangeSelection } from "@/lib/shared/headers";
import { toWebStream } from "@/lib/shared/web-stream";
import { type ContentHeaders, createDamagedBytesError, type StoredBytes } from "../assets/blob-store";
import { canServeInline } from "../assets/media-type";
import { createErrorBodyResponse } from "./route";

type FileVersion = { etag: string; size: number; modifiedMs: number };
type ByteSelection = { kind: "notModified" } | { kind: "preconditionFailed" } | RangeSelection;

function selectBytes(request: { method: string; headers: Headers }, version: FileVersion): ByteSelection {
  const { headers, method } = request;
  const ifMatch = headers.get("if-match");
  if (
    ifMatch !== null
      ? !includesEtag(ifMatch, version.etag, { allowWeak: false })
      : isModifiedSince(headers.get("if-unmodified-since"), version)
  )
    return { kind: "preconditionFailed" };
  const ifNoneMatch = headers.get("if-none-match");
  if (ifNoneMatch !== null) {
    if (includesEtag(ifNoneMatch, version.etag, { allowWeak: true })) return { kind: "notModified" };
  } else if (isModifiedSince(headers.get("if-modified-since"), version) === false) return { kind: "notModified" };
  const range = headers.get("range");
  if (method !== "GET" || range === null || !matchesIfRange(headers.get("if-range"), version)) return { kind: "full" };
  return parseRange(range, version.size);
}

function includesEtag(header: string, etag: string, { allowWeak }: { allowWeak: boolean }): boolean {
  return header.split(",").some((listItem) => {
    const tag = listItem.trim();
    return tag === "*" || (allowWeak ? tag.replace(/^W\//, "") : tag) === etag;
  });
}

function isModifiedSince(header: string | null, version: FileVersion): boolean | undefined {
  const sinceMs = header === null ? NaN : Date.parse(header);
  return Number.isNaN(sinceMs) ? undefined : toSeconds(version.modifiedMs) > toSeconds(sinceMs);
}

function matchesIfRange(condition: string | null, version: FileVersion): boolean {
  if (condition === null) return true;
  if (condition.includes('"')) return condition.trim() === version.etag;
  return toSeconds(Date.parse(condition)) === toSeconds(version.modifiedMs);
}

const toSeconds = (ms: number) => Math.floor(ms / 1000);

type CacheInfo = {
  etag: string;
  modifiedMs: number;
  isImmutable: boolean;
};
/** If `storedSize` differs from the size, the file is damaged. `canRedirect` allows a redirect to the bucket. */
type BytesToSend = FileInfo &
  Omit<CacheInfo, "etag" | "modifiedMs"> & {
    open: () => Promise<StoredBytes>;
    storedSize?: number;
    canRedirect?: true;
  } & Partial<CacheInfo>;

/** Without an `etag` or `modifiedMs`, the version is derived from the file's size and time. */
export async function sendBytes(request: Request, file: BytesToSend): Promise<Response> {
  const bytes = await file.open();
  let isStreaming = false;
  try {
    const { size } = bytes;
    if (file.storedSize !== undefined && file.storedSize !== size) throw createDamagedBytesError();
    const { etag = `${size.toString(36)}-${Math.floor(bytes.modifiedMs).toString(36)}`, modifiedMs = bytes.modifiedMs } = file;
    const response = prepareResponse(request, { ...file, etag, modifiedMs }, size);
    if (response instanceof Response) return response;
    const { headers, status, start, end } = response;
    if (request.method === "HEAD" || end < start) {
      await bytes.check?.();
      return new Response(null, { status, headers });
    }
    if (file.canRedirect && bytes.createUrl && !request.headers.has("range")) {
      // The service, not the bucket, reports a missing or damaged file and an unavailable store.
      await bytes.check?.();
      return createRedirect(await bytes.createUrl(toContentHeaders(headers)));
    }
    const stream = await bytes.read(start, end);
    isStreaming = true;
    return new Response(toWebStream(stream), { status, headers });
  } finally {
    if (!isStreaming) await bytes.close();
  }
}

export function sendBuffer(request: Request, bytes: Uint8Array, file: FileInfo & CacheInfo): Response {
  const response = prepareResponse(request, file, bytes.byteLength);
  if (response instanceof Response) return response;
  const { headers, status, start, end } = response;
  return new Response(request.method === "HEAD" ? null : new Uint8Array(bytes.subarray(start, end + 1)), { status, headers });
}

function prepareResponse(request: Request, file: FileInfo & CacheInfo, size: number) {
  const etag = `"${file.etag}"`;
  const headers = new Headers({
    etag,
    "last-modified": new Date(file.modifiedMs).toUTCString(),
    "accept-ranges": "bytes",
    "cache-control": file.isImmutable ? "private, max-age=31536000, immutable" : "private, no-cache",
    "x-content-type-options": "nosniff",
    "content-security-policy": canServeInline(file.mediaType, file.fileName) ? INLINE_CSP : "default-src 'none'; sandbox",
  });
  const selection = selectBytes(request, { etag, size, modifiedMs: file.modifiedMs });
  if (selection.kind === "notModified") return new Response(null, { status: 304, headers });
  if (selection.kind === "preconditionFailed")
    return createRangeErrorResponse(request, "PRECONDITION_FAILED", "The file has changed since the requested version.", headers);
  if (selection.kind === "unsatisfiable") {
    headers.set("content-range", `bytes */${size}`);
    return createRangeErrorResponse(request, "RANGE_NOT_SATISFIABLE", `The range is outside the file's ${size} bytes.`, headers);
  }
  const { start, end } = selection.kind === "range" ? selection : { start: 0, end: size - 1 };
  headers.set("content-type", toContentType(file.mediaType));
  headers.set("content-disposition", createContentDisposition(file));
  headers.set("content-length", String(end - start + 1));
  if (selection.kind === "range") headers.set("content-range", `bytes ${start}-${end}/${size}`);
  return { headers, status: selection.kind === "range" ? 206 : 200, start, end };
}

/** The headers of a signed URL. They can't include `nosniff` or the sandbox, but the bucket is another origin. */
function toContentHeaders(headers: Headers): ContentHeaders {
  const getHeader = (name: string) => headers.get(name) ?? "";
  return { mediaType: getHeader("content-type"), disposition: getHeader("content-disposition"), cacheControl: getHeader("cache-control") };
}

/** Never cached, because the URL expires and anyone who has it can read the file. */
function createRedirect(location: string): Response {
  return new Response(null, { status: 302, headers: { location, "cache-control": "no-store", "referrer-policy": "no-referrer" } });
}

/** Browsers display a directly opened image or video in a generated page, which needs these sources. */
const INLINE_CSP = "default-src 'none'; img-src 'self'; media-src 'self'; style-src 'unsafe-inline'; sandbox";

function createRangeErrorResponse(
  request: Request,
  code: "PRECONDITION_FAILED" | "RANGE_NOT_SATISFIABLE",
  message: string,
  headers: Headers,
): Response {
  const response = createErrorBodyResponse({ code, message }, new URL(request.url).pathname);
  for (const name of ["content-range", "accept-ranges", "etag"]) {
    const value = headers.get(name);
    if (value !== null) response.headers.set(name, value);
  }
  return response;
}

function toContentType(mediaType: string): string {
  return mediaType.startsWith("text/") || mediaType === "application/json" ? `${mediaType}; charset=utf-8` : mediaType;
}

type FileInfo = { fileName: string; mediaType: string; disposition?: "attachment" | "inline" };

function createContentDisposition(file: FileInfo): string {
  const kind = canServeInline(file.mediaType, file.fileName) ? (file.disposition ?? "inline") : "attachment";
  // Slashes would make the name a path.
  const name = toFileName(file.fileName).replace(/[/\\]/g, "_");
  const asciiName = name.replace(/[^\x20-\x7e]|["%]/g, "_");
  return `${kind}; filename="${asciiName}"; filename*=UTF-8''${encodeURIComponent(name).replace(/['()*]/g, percentEncode)}`;
}

function percentEncode(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
}
