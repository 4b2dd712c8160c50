// Streams a shared item's bytes and removes metadata on the way.

import "server-only";
import { z } from "zod";
import { type Failure } from "@/lib/contract/failure";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { toFileName } from "@/lib/contract/plain-line";
import { createLimiter } from "@/lib/shared/async";
import { parseRange } from "@/lib/shared/headers";
import { failed, ok, type Result } from "@/lib/shared/result";
import { toByteStream } from "@/lib/shared/web-stream";
import { createBytesResponse } from "../requests/responses";
import { type ShareItem } from "../store/shares";
import { cleanFile, CLEANING_VERSION } from "./clean/clean";
import { getPieceLength, NotCleanableError, type Piece } from "./clean/pieces";
import { getRangeStart, openOriginal, readOriginal, UnreadableItemError } from "./item-source";
import { type OpenedShare, shareNotFound, tooManyShareRequests } from "./open-share";

/** Returns the parts of the pieces between two offsets of the cleaned file. */
export function selectPieces(pieces: readonly Piece[], from: number, to: number): Piece[] {
  const selection: Piece[] = [];
  let offset = 0;
  for (const piece of pieces) {
    const length = getPieceLength(piece);
    const [start, end] = [Math.max(0, from - offset), Math.min(length, to - offset)];
    offset += length;
    if (start >= end) continue;
    if ("to" in piece) selection.push({ from: piece.from + start, to: piece.from + end });
    else if ("zeros" in piece) selection.push({ zeros: end - start });
    else selection.push({ bytes: Buffer.from(piece.bytes, "base64").subarray(start, end).toString("base64") });
  }
  return selection;
}

/** Returns the range of the original that the pieces need, or undefined if they need none. */
export function findOriginalRange(pieces: readonly Piece[]): { from: number; to: number } | undefined {
  const copiedPieces = pieces.filter((piece) => "to" in piece);
  const [first, last] = [copiedPieces[0], copiedPieces.at(-1)];
  return first && last && { from: first.from, to: last.to };
}

const ZERO_CHUNK_BYTES = 64 * 1024;

export function createCleanStream(
  pieces: readonly Piece[],
  original: ReadableStream<Uint8Array> | null,
  startOffset: number,
): ReadableStream<Uint8Array> {
  const source = original?.getReader();
  const output = writePieces(pieces, source, startOffset);
  return toByteStream(
    async () => {
      const next = await output.next();
      if (next.done) await source?.cancel().catch(() => undefined);
      return next;
    },
    (reason) => source?.cancel(reason),
  );
}

async function* writePieces(
  pieces: readonly Piece[],
  source: ReadableStreamDefaultReader<Uint8Array> | undefined,
  startOffset: number,
): AsyncGenerator<Uint8Array, void> {
  let chunk: Uint8Array = new Uint8Array(0);
  let chunkStart = startOffset;
  for (const piece of pieces) {
    if ("bytes" in piece) yield Buffer.from(piece.bytes, "base64");
    else if ("zeros" in piece) {
      for (let remaining = piece.zeros; remaining > 0; remaining -= ZERO_CHUNK_BYTES)
        yield new Uint8Array(Math.min(remaining, ZERO_CHUNK_BYTES));
    } else {
      for (let from = piece.from; from < piece.to;) {
        const part = chunk.subarray(Math.max(0, from - chunkStart), Math.max(0, piece.to - chunkStart));
        if (part.byteLength > 0) {
          yield part;
          from += part.byteLength;
          continue;
        }
        chunkStart += chunk.byteLength;
        const next = await source?.read();
        if (!next || next.done) throw new Error("the original ended too early");
        chunk = next.value;
      }
    }
  }
}

type ShareTarget = { number: number; item: ShareItem; pieces: string | undefined };
type BytesQuery = { range: string | null; signal: AbortSignal; isDownload: boolean };

/** Pieces of another cleaning version are recomputed. A file that cannot be cleaned has no pieces. */
const piecesSchema = z.object({
  version: z.literal(CLEANING_VERSION),
  pieces: z.array(
    z.union([z.object({ from: z.number(), to: z.number() }), z.object({ bytes: z.string() }), z.object({ zeros: z.number() })]),
  ),
});
/** Each scan reads a full file to find its metadata. */
const MAX_CONCURRENT_SCANS = 4;
const MAX_PENDING_SCANS = 40;
const limitScans = createLimiter(MAX_CONCURRENT_SCANS);
let activeScans = 0;

export async function fetchSharedBytes(
  openedShare: OpenedShare,
  target: ShareTarget,
  bytesQuery: BytesQuery,
): Promise<Result<Response, Failure>> {
  const result = openedShare.share.keepsMetadata
    ? await fetchOriginal(openedShare, target.item, bytesQuery)
    : await fetchCleaned(openedShare, target, bytesQuery);
  if (!result.ok) return result;
  const { headers } = result.value;
  headers.delete("etag");
  headers.delete("last-modified");
  headers.set("cache-control", "private, no-store");
  headers.set("x-robots-tag", "noindex, nofollow");
  const isInline = !bytesQuery.isDownload && headers.get("content-disposition")?.startsWith("inline");
  const name = encodeURIComponent(toFileName(target.item.name)).replace(/['()*]/g, (char) => `%${char.charCodeAt(0).toString(16)}`);
  headers.set("content-disposition", `${isInline ? "inline" : "attachment"}; filename*=UTF-8''${name}`);
  return result;
}

async function fetchOriginal({ access }: OpenedShare, item: ShareItem, { range, signal }: BytesQuery): Promise<Result<Response, Failure>> {
  const original = await openOriginal(access, item, { signal, headers: range === null ? {} : { range } });
  if (!original.ok) return original;
  const { status } = original.value;
  if (status === 416) return createRangeFailure(original.value, original.value.headers.get("content-range"));
  return ok(createBytesResponse(original.value));
}

async function fetchCleaned(
  openedShare: OpenedShare,
  target: ShareTarget,
  { range, signal }: BytesQuery,
): Promise<Result<Response, Failure>> {
  const piecesResult = await getPieces(openedShare, target, signal);
  if (!piecesResult.ok) return piecesResult;
  const filePieces = piecesResult.value;
  if (filePieces.length === 0) return failed(shareNotFound);
  const size = filePieces.reduce((sum, piece) => sum + getPieceLength(piece), 0);
  const selection = parseRange(range ?? "", size);
  if (selection.kind === "unsatisfiable") return createRangeFailure(undefined, `bytes */${size}`);
  const [from, to] = selection.kind === "range" ? [selection.start, selection.end + 1] : [0, size];
  const pieces = selectPieces(filePieces, from, to);
  const originalRange = findOriginalRange(pieces);
  const headers = { range: `bytes=${originalRange?.from ?? 0}-${(originalRange?.to ?? 1) - 1}` };
  const original = await openOriginal(openedShare.access, target.item, { signal, headers });
  if (!original.ok) return original;
  const rangeStart = getRangeStart(original.value);
  // The pieces would not match a different range than requested.
  if (rangeStart === undefined || (rangeStart !== 0 && rangeStart !== originalRange?.from)) {
    await original.value.body?.cancel();
    return failed(shareNotFound);
  }
  const stream = createCleanStream(pieces, original.value.body, rangeStart);
  const response = createBytesResponse(
    new Response(stream, { headers: { "content-type": original.value.headers.get("content-type") ?? "" } }),
  );
  response.headers.set("content-length", String(to - from));
  response.headers.set("accept-ranges", "bytes");
  if (selection.kind === "full") return ok(response);
  response.headers.set("content-range", `bytes ${from}-${to - 1}/${size}`);
  return ok(new Response(response.body, { status: 206, headers: response.headers }));
}

/** Pieces are computed once, because the shared content does not change. */
async function getPieces(openedShare: OpenedShare, target: ShareTarget, signal: AbortSignal): Promise<Result<Piece[], Failure>> {
  const storedPieces = readPieces(target.pieces);
  if (storedPieces) return ok(storedPieces);
  if (activeScans >= MAX_CONCURRENT_SCANS + MAX_PENDING_SCANS) return failed(tooManyShareRequests);
  activeScans += 1;
  try {
    return await limitScans(() => computePieces(openedShare, target, signal));
  } finally {
    activeScans -= 1;
  }
}

async function computePieces(
  { share, access }: OpenedShare,
  { number, item }: ShareTarget,
  signal: AbortSignal,
): Promise<Result<Piece[], Failure>> {
  const { shares } = access.composition.store;
  // The previous request in the queue may have stored them.
  const storedPieces = readPieces((await shares.findItem(share.id, number))?.pieces);
  if (storedPieces) return ok(storedPieces);
  let pieces: Piece[] | undefined;
  try {
    pieces = await readOriginal(access, item, signal, cleanFile);
  } catch (error) {
    if (error instanceof UnreadableItemError) return failed(shareNotFound);
    if (!(error instanceof NotCleanableError)) throw error;
  }
  await shares.savePieces(share.id, number, writeExactJson({ version: CLEANING_VERSION, pieces: pieces ?? [] }));
  return ok(pieces ?? []);
}

function readPieces(pieces: string | undefined): Piece[] | undefined {
  return pieces === undefined ? undefined : piecesSchema.safeParse(JSON.parse(pieces)).data?.pieces;
}

async function createRangeFailure(upstreamResponse: Response | undefined, range: string | null): Promise<Result<Response, Failure>> {
  await upstreamResponse?.body?.cancel();
  return ok(new Response(null, { status: 416, headers: { "content-range": range ?? "bytes */*" } }));
}
