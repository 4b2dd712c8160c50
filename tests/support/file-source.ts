// A server with one file and configurable faults: it may lack ranges, change the file, or cut or stall the connection. It records each request
// and the number of sent bytes.
import { once } from "node:events";
import { type ServerResponse } from "node:http";
import { type ReceivedRequest, startTestServer, type TestServer } from "./test-server";

export type Behaviour = {
  bytes: Buffer;
  etag?: string;
  lastModified?: string;
  /** If false, every response is the whole file. */
  hasRanges: boolean;
  hasLength: boolean;
  headers: Record<string, string>;
  /** Per connection: the number of body bytes after which it is cut, or undefined. */
  cuts: (number | undefined)[];
  refusesHead?: boolean;
  /** Statuses of the next responses, in order. */
  busy?: number[];
  /** Stalls after this many body bytes until the client disconnects. */
  holdAfter?: number;
  /** A false Content-Range. */
  contentRange?: string;
  /** Sends this many bytes at a time, with pauses. */
  drip?: { bytes: number; everyMs: number };
};
export type ServedResponse = { range?: string; ifRange?: string; status: number; start: number; sent: number };
export type FileSource = TestServer & { behaviour: Behaviour; responses: ServedResponse[]; sent(): number; pending: Set<ServerResponse> };

export async function startFileSource(bytes: Buffer, behaviour: Partial<Behaviour> = {}): Promise<FileSource> {
  const responses: ServedResponse[] = [];
  /** Stalled connections, kept so that they can be closed. */
  const pending = new Set<ServerResponse>();
  const now: Behaviour = { bytes, hasRanges: true, hasLength: true, headers: {}, cuts: [], ...behaviour };
  const server = await startTestServer(
    (request, response) => void serve(now, { responses, pending }, request, response).catch(() => response.destroy()),
  );
  return { ...server, behaviour: now, responses, pending, sent: () => responses.reduce((sum, response) => sum + response.sent, 0) };
}

/** Bytes without repetition, so that a misplaced part changes the hash. */
export function createPattern(length: number, seed = 1): Buffer {
  const bytes = Buffer.alloc(length);
  let value = seed;
  for (let at = 0; at < length; at += 1) {
    value = (Math.imul(value, 1103515245) + 12345) >>> 0;
    bytes[at] = value >>> 24;
  }
  return bytes;
}

async function serve(
  now: Behaviour,
  { responses, pending }: Pick<FileSource, "responses" | "pending">,
  request: ReceivedRequest,
  response: ServerResponse,
): Promise<void> {
  if (request.method === "HEAD" && now.refusesHead) return void response.writeHead(403).end();
  const busy = now.busy?.shift();
  if (busy !== undefined) return void response.writeHead(busy, { "retry-after": "1" }).end();
  const range = request.headers.range;
  const ifRange = request.headers["if-range"]?.toString();
  const matches = ifRange === undefined || ifRange === now.etag || ifRange === now.lastModified;
  const isPart = now.hasRanges && range !== undefined && matches;
  const start = isPart ? Number(/^bytes=(\d+)-/.exec(range)?.[1] ?? 0) : 0;
  const end = isPart ? Number(/-(\d+)$/.exec(range)?.[1] ?? now.bytes.length - 1) : now.bytes.length - 1;
  const isBeyond = isPart && start >= now.bytes.length;
  const entry: ServedResponse = {
    ...(range && { range }),
    ...(ifRange && { ifRange }),
    status: isBeyond ? 416 : isPart ? 206 : 200,
    start,
    sent: 0,
  };
  responses.push(entry);
  if (isBeyond) return void response.writeHead(416, { "content-range": `bytes */${now.bytes.length}` }).end();

  const body = now.bytes.subarray(start, end + 1);
  response.writeHead(entry.status, {
    ...(now.etag !== undefined && { etag: now.etag }),
    ...(now.lastModified !== undefined && { "last-modified": now.lastModified }),
    ...(now.hasLength && { "content-length": String(body.length) }),
    ...(isPart && { "content-range": now.contentRange ?? `bytes ${start}-${end}/${now.bytes.length}` }),
    ...now.headers,
  });
  if (request.method === "HEAD") return void response.end();
  const cut = now.cuts.shift();
  const step = now.drip?.bytes ?? 64 * 1024;
  for (let at = 0; at < body.length;) {
    const next = Math.min(at + step, body.length, cut ?? Infinity, now.holdAfter ?? Infinity);
    if (response.destroyed) return;
    if (!response.write(body.subarray(at, next))) await drained(response);
    entry.sent += next - at;
    at = next;
    if (at === cut) return void response.socket?.end(() => response.destroy());
    if (at === now.holdAfter) return void pending.add(response);
    if (now.drip) await new Promise((resolve) => setTimeout(resolve, now.drip?.everyMs));
  }
  response.end();
}

async function drained(response: ServerResponse): Promise<void> {
  const over = new AbortController();
  const either = ["drain", "close"].map((event) => once(response, event, { signal: over.signal }).catch(() => undefined));
  await Promise.race(either);
  over.abort();
}
