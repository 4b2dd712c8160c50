// A server with one file and configurable faults: missing ranges, a changed file, and cut or stalled connections. It records each request
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
  /** Replaces the correct Content-Range. */
  contentRange?: string;
  /** Sends this many bytes at a time, with pauses. */
  drip?: { bytes: number; everyMs: number };
};
export type ServedResponse = { range?: string; ifRange?: string; status: number; start: number; sent: number };
export type FileSource = TestServer & {
  behaviour: Behaviour;
  responses: ServedResponse[];
  countSentBytes(): number;
  pending: Set<ServerResponse>;
};

export async function startFileSource(bytes: Buffer, behaviour: Partial<Behaviour> = {}): Promise<FileSource> {
  const responses: ServedResponse[] = [];
  /** Stalled responses, so that tests can close them. */
  const pending = new Set<ServerResponse>();
  const currentBehaviour: Behaviour = { bytes, hasRanges: true, hasLength: true, headers: {}, cuts: [], ...behaviour };
  const server = await startTestServer(
    (request, response) => void serve(currentBehaviour, { responses, pending }, request, response).catch(() => response.destroy()),
  );
  return {
    ...server,
    behaviour: currentBehaviour,
    responses,
    pending,
    countSentBytes: () => responses.reduce((sum, response) => sum + response.sent, 0),
  };
}

/** Creates bytes without repetition, so that a misplaced part changes the hash. */
export function createPattern(length: number, seed = 1): Buffer {
  const bytes = Buffer.alloc(length);
  let value = seed;
  for (let index = 0; index < length; index += 1) {
    value = (Math.imul(value, 1103515245) + 12345) >>> 0;
    bytes[index] = value >>> 24;
  }
  return bytes;
}

async function serve(
  behaviour: Behaviour,
  { responses, pending }: Pick<FileSource, "responses" | "pending">,
  request: ReceivedRequest,
  response: ServerResponse,
): Promise<void> {
  if (request.method === "HEAD" && behaviour.refusesHead) return void response.writeHead(403).end();
  const busy = behaviour.busy?.shift();
  if (busy !== undefined) return void response.writeHead(busy, { "retry-after": "1" }).end();
  const range = request.headers.range;
  const ifRange = request.headers["if-range"]?.toString();
  const matches = ifRange === undefined || ifRange === behaviour.etag || ifRange === behaviour.lastModified;
  const isPartial = behaviour.hasRanges && range !== undefined && matches;
  const start = isPartial ? Number(/^bytes=(\d+)-/.exec(range)?.[1] ?? 0) : 0;
  const end = isPartial ? Number(/-(\d+)$/.exec(range)?.[1] ?? behaviour.bytes.length - 1) : behaviour.bytes.length - 1;
  const isBeyondEnd = isPartial && start >= behaviour.bytes.length;
  const entry: ServedResponse = {
    ...(range && { range }),
    ...(ifRange && { ifRange }),
    status: isBeyondEnd ? 416 : isPartial ? 206 : 200,
    start,
    sent: 0,
  };
  responses.push(entry);
  if (isBeyondEnd) return void response.writeHead(416, { "content-range": `bytes */${behaviour.bytes.length}` }).end();

  const body = behaviour.bytes.subarray(start, end + 1);
  response.writeHead(entry.status, {
    ...(behaviour.etag !== undefined && { etag: behaviour.etag }),
    ...(behaviour.lastModified !== undefined && { "last-modified": behaviour.lastModified }),
    ...(behaviour.hasLength && { "content-length": String(body.length) }),
    ...(isPartial && { "content-range": behaviour.contentRange ?? `bytes ${start}-${end}/${behaviour.bytes.length}` }),
    ...behaviour.headers,
  });
  if (request.method === "HEAD") return void response.end();
  const cut = behaviour.cuts.shift();
  const step = behaviour.drip?.bytes ?? 64 * 1024;
  for (let offset = 0; offset < body.length;) {
    const next = Math.min(offset + step, body.length, cut ?? Infinity, behaviour.holdAfter ?? Infinity);
    if (response.destroyed) return;
    if (!response.write(body.subarray(offset, next))) await waitForDrain(response);
    entry.sent += next - offset;
    offset = next;
    if (offset === cut) return void response.socket?.end(() => response.destroy());
    if (offset === behaviour.holdAfter) return void pending.add(response);
    if (behaviour.drip) await new Promise((resolve) => setTimeout(resolve, behaviour.drip?.everyMs));
  }
  response.end();
}

async function waitForDrain(response: ServerResponse): Promise<void> {
  const controller = new AbortController();
  const events = ["drain", "close"].map((event) => once(response, event, { signal: controller.signal }).catch(() => undefined));
  await Promise.race(events);
  controller.abort();
}
