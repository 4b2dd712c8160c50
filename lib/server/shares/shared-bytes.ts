// Streams a shared item's bytes and removes metadata on the way.

import "server-only";
import { z } from "zod";
import { type Failure } from "@/lib/contract/failure";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { toFileName } from "@/lib/contract/plain-line";
import { createLimiter } from "@/lib/shared/async";
import { failed, ok, type Result } from "@/lib/shared/result";
import { toByteStream } from "@/lib/shared/web-stream";
import { bytesResponse } from "../requests/responses";
import { type ShareItem } from "../store/shares";
import { CLEANING_VERSION, cleanFile } from "./clean/clean";
import { getPieceLength, NotCleanableError, type Piece } from "./clean/pieces";
import { openOriginal, rangeStartOf, readOriginal, UnreadableItem } from "./item-source";
import { noShare, type OpenedShare, tooMany } from "./open-share";

/** The parts of the pieces between `from` and `to`, counted in the cleaned file. */
export function piecesBetween(pieces: readonly Piece[], from: number, to: number): Piece[] {
  const selection: Piece[] = [];
  let at = 0;
  for (const piece of pieces) {
    const length = getPieceLength(piece);
    const [start, end] = [Math.max(0, from - at), Math.min(length, to - at)];
    at += length;
    if (start >= end) continue;
    if ("to" in piece) selection.push({ from: piece.from + start, to: piece.from + end });
    else if ("zeros" in piece) selection.push({ zeros: end - start });
    else selection.push({ bytes: Buffer.from(piece.bytes, "base64").subarray(start, end).toString("base64") });
  }
  return selection;
}

/** The part of the original that the pieces need; undefined if they need none. */
export function spanOf(pieces: readonly Piece[]): { from: number; to: number } | undefined {
  const copied = pieces.filter((piece) => "to" in piece);
  const [first, last] = [copied[0], copied.at(-1)];
  return first && last && { from: first.from, to: last.to };
}

const ZEROS = 64 * 1024;

export function cleanStream(pieces: readonly Piece[], original: ReadableStream<Uint8Array> | null, at: number): ReadableStream<Uint8Array> {
  const source = original?.getReader();
  const asyncGenerator = make(pieces, source, at);
  return toByteStream(
    async () => {
      const next = await asyncGenerator.next();
      if (next.done) await source?.cancel().catch(() => undefined);
      return next;
    },
    (reason) => source?.cancel(reason),
  );
}

async function* make(
  pieces: readonly Piece[],
  source: ReadableStreamDefaultReader<Uint8Array> | undefined,
  at: number,
): AsyncGenerator<Uint8Array, void> {
  let chunk: Uint8Array = new Uint8Array(0);
  let begin = at;
  for (const piece of pieces) {
    if ("bytes" in piece) yield Buffer.from(piece.bytes, "base64");
    else if ("zeros" in piece) {
      for (let remaining = piece.zeros; remaining > 0; remaining -= ZEROS) yield new Uint8Array(Math.min(remaining, ZEROS));
    } else {
      for (let from = piece.from; from < piece.to;) {
        const part = chunk.subarray(Math.max(0, from - begin), Math.max(0, piece.to - begin));
        if (part.byteLength > 0) {
          yield part;
          from += part.byteLength;
          continue;
        }
        begin += chunk.byteLength;
        const next = await source?.read();
        if (!next || next.done) throw new Error("the original ended too early");
        chunk = next.value;
      }
    }
  }
}

type ShareTarget = { number: number; item: ShareItem; pieces: string | undefined };
type BytesQuery = { range: string | null; signal: AbortSignal; isDownload: boolean };

/** Pieces of another cleaning version are made again; a file that cannot be cleaned has no pieces. */
const piecesSchema = z.object({
  version: z.literal(CLEANING_VERSION),
  pieces: z.array(
    z.union([z.object({ from: z.number(), to: z.number() }), z.object({ bytes: z.string() }), z.object({ zeros: z.number() })]),
  ),
});
/** Each of these reads a whole file to find what must be removed. */
const LOOKING_AT_ONCE = 4;
const MAX_WAITING = 40;
const looking = createLimiter(LOOKING_AT_ONCE);
let lookingOrWaiting = 0;

export async function sharedBytes(
  openedShare: OpenedShare,
  target: ShareTarget,
  bytesQuery: BytesQuery,
): Promise<Result<Response, Failure>> {
  const result = openedShare.share.keepsMetadata
    ? await asItIs(openedShare, target.item, bytesQuery)
    : await cleaned(openedShare, target, bytesQuery);
  if (!result.ok) return result;
  const { headers } = result.value;
  headers.delete("etag");
  headers.delete("last-modified");
  headers.set("cache-control", "private, no-store");
  headers.set("x-robots-tag", "noindex, nofollow");
  const isShown = !bytesQuery.isDownload && headers.get("content-disposition")?.startsWith("inline");
  const name = encodeURIComponent(toFileName(target.item.name)).replace(/['()*]/g, (letter) => `%${letter.charCodeAt(0).toString(16)}`);
  headers.set("content-disposition", `${isShown ? "inline" : "attachment"}; filename*=UTF-8''${name}`);
  return result;
}

async function asItIs({ access }: OpenedShare, item: ShareItem, { range, signal }: BytesQuery): Promise<Result<Response, Failure>> {
  const original = await openOriginal(access, item, { signal, headers: range === null ? {} : { range } });
  if (!original.ok) return original;
  const { status } = original.value;
  if (status === 416) return unsatisfiable(original.value, original.value.headers.get("content-range"));
  return ok(bytesResponse(original.value));
}

async function cleaned(openedShare: OpenedShare, target: ShareTarget, { range, signal }: BytesQuery): Promise<Result<Response, Failure>> {
  const piecesResult = await piecesOf(openedShare, target, signal);
  if (!piecesResult.ok) return piecesResult;
  const { value: pieceList } = piecesResult;
  if (pieceList.length === 0) return failed(noShare);
  const size = pieceList.reduce((sum, piece) => sum + getPieceLength(piece), 0);
  const part = partOf(range, size);
  if (part === "none") return unsatisfiable(undefined, `bytes */${size}`);
  const { from, to } = part ?? { from: 0, to: size };
  const pieces = piecesBetween(pieceList, from, to);
  const span = spanOf(pieces);
  const headers = { range: `bytes=${span?.from ?? 0}-${(span?.to ?? 1) - 1}` };
  const original = await openOriginal(openedShare.access, target.item, { signal, headers });
  if (!original.ok) return original;
  const begin = rangeStartOf(original.value);
  // In another range than the requested one, nothing would be where the pieces expect it.
  if (begin === undefined || (begin !== 0 && begin !== span?.from)) {
    await original.value.body?.cancel();
    return failed(noShare);
  }
  const stream = cleanStream(pieces, original.value.body, begin);
  const response = bytesResponse(new Response(stream, { headers: { "content-type": original.value.headers.get("content-type") ?? "" } }));
  response.headers.set("content-length", String(to - from));
  response.headers.set("accept-ranges", "bytes");
  if (!part) return ok(response);
  response.headers.set("content-range", `bytes ${from}-${to - 1}/${size}`);
  return ok(new Response(response.body, { status: 206, headers: response.headers }));
}

/** Computed once: the shared content does not change. */
async function piecesOf(openedShare: OpenedShare, target: ShareTarget, signal: AbortSignal): Promise<Result<Piece[], Failure>> {
  const storedPieces = readPieces(target.pieces);
  if (storedPieces) return ok(storedPieces);
  if (lookingOrWaiting >= LOOKING_AT_ONCE + MAX_WAITING) return failed(tooMany);
  lookingOrWaiting += 1;
  try {
    return await looking(() => findPieces(openedShare, target, signal));
  } finally {
    lookingOrWaiting -= 1;
  }
}

async function findPieces(
  { share, access }: OpenedShare,
  { number, item }: ShareTarget,
  signal: AbortSignal,
): Promise<Result<Piece[], Failure>> {
  const { shares } = access.composition.store;
  // The request before this one in the queue may have made them.
  const storedPieces = readPieces((await shares.item(share.id, number))?.pieces);
  if (storedPieces) return ok(storedPieces);
  let pieces: Piece[] | undefined;
  try {
    pieces = await readOriginal(access, item, signal, cleanFile);
  } catch (error) {
    if (error instanceof UnreadableItem) return failed(noShare);
    if (!(error instanceof NotCleanableError)) throw error;
  }
  await shares.keepPieces(share.id, number, writeExactJson({ version: CLEANING_VERSION, pieces: pieces ?? [] }));
  return ok(pieces ?? []);
}

function readPieces(pieces: string | undefined): Piece[] | undefined {
  return pieces === undefined ? undefined : piecesSchema.safeParse(JSON.parse(pieces)).data?.pieces;
}

/** For one range, as players request; for several, or for a header that is not understood, the whole file is sent. */
function partOf(range: string | null, size: number): { from: number; to: number } | "none" | undefined {
  const [, first = "", last = ""] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(range ?? "") ?? [];
  if (first === "" && last === "") return undefined;
  if (first === "") return Number(last) === 0 ? "none" : { from: Math.max(0, size - Number(last)), to: size };
  const to = last === "" ? size : Math.min(size, Number(last) + 1);
  return Number(first) < to ? { from: Number(first), to } : "none";
}

async function unsatisfiable(from: Response | undefined, range: string | null): Promise<Result<Response, Failure>> {
  await from?.body?.cancel();
  return ok(new Response(null, { status: 416, headers: { "content-range": range ?? "bytes */*" } }));
}
