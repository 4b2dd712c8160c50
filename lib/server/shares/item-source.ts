// Opens and reads the original bytes of shared items.

import "server-only";
import { setImmediate as othersTurn } from "node:timers/promises";
import { type Failure } from "@/lib/contract/failure";
import { operations } from "@/lib/contract/operations";
import { type Asset } from "@/lib/contract/schemas/asset";
import { failed, type Result } from "@/lib/shared/result";
import { openAssetBytes } from "../archive/stream-archive";
import { type Access } from "../connections/access";
import { type ShareItem } from "../store/shares";
import { type MediaReader, NotCleanableError } from "./clean/pieces";
import { noShare } from "./open-share";

type Headers = Readonly<Record<string, string>>;
type ReadOptions = { signal: AbortSignal; headers?: Headers };

/** BLAKE3 in hexadecimal, if the service gave it. */
export function hashOf({ asset_hash: hash }: Pick<Asset, "asset_hash">): string | undefined {
  return /^(?:blake3:)?([0-9a-f]{64})$/.exec(hash?.startsWith("sha256:") ? "" : (hash ?? ""))?.[1];
}

export async function openOriginal(
  access: Access,
  item: ShareItem,
  { signal, headers = {} }: ReadOptions,
): Promise<Result<Response, Failure>> {
  // Without a hash or a validator, another file under the same name would not be noticed.
  if (!item.isFixed && item.validator === undefined) return failed(noShare);
  const uncheckedResult = await openUnchecked(access, item, { signal, headers });
  if (!uncheckedResult.ok || item.isFixed || validatorOf(uncheckedResult.value) === item.validator) return uncheckedResult;
  await uncheckedResult.value.body?.cancel();
  return failed(noShare);
}

export async function itemExists(access: Access, item: ShareItem, signal: AbortSignal): Promise<boolean> {
  if (item.asset !== undefined && item.isFixed) return (await sameAsset(access, item, signal)) !== undefined;
  const originalResult = await openOriginal(access, item, { signal, headers: { range: "bytes=0-0" } });
  if (originalResult.ok) await originalResult.value.body?.cancel();
  return originalResult.ok;
}

/** Distinguishes a file from another that took its place: the size, and the service's own ETag or date. */
export function validatorOf({ headers }: Response): string {
  const total = headers.get("content-range")?.split("/")[1] ?? headers.get("content-length") ?? "";
  return [total, headers.get("etag") ?? headers.get("last-modified") ?? ""].join(" ");
}

/** Opens the file that is there now, unchecked: only for the maker, while the share is made. */
export async function openUnchecked(
  access: Access,
  item: ShareItem,
  { signal, headers = {} }: ReadOptions,
): Promise<Result<Response, Failure>> {
  if (item.file) return access.upstream.forward(operations.view, { query: item.file, signal, headers });
  const asset = await sameAsset(access, item, signal);
  return asset ? openAssetBytes(access, asset, signal, headers) : failed(noShare);
}

async function sameAsset(access: Access, { asset: id, hash, isFixed }: ShareItem, signal: AbortSignal): Promise<Asset | undefined> {
  if (id === undefined) return undefined;
  const asset = await access.upstream.call(operations.getAsset, { params: { id }, signal });
  return asset.ok && (!isFixed || hashOf(asset.value) === hash) ? asset.value : undefined;
}

/** Where in the file an answer begins, for a whole file or a range. Undefined for any other answer. */
export function rangeStartOf({ status, headers }: Response): number | undefined {
  if (status === 200) return 0;
  const [, begin] = /^bytes (\d+)-/.exec(headers.get("content-range") ?? "") ?? [];
  return status === 206 && begin !== undefined ? Number(begin) : undefined;
}

/** The service broke off, or did not deliver the file; the next attempt may succeed. */
export class UnreadableItem extends Error {}

/** Bytes as they arrive; if the reader stops early, the answer is cancelled. */
export async function* bytesIn({ body }: Response): AsyncGenerator<Uint8Array, void> {
  const reader = body?.getReader();
  const next = () =>
    reader?.read().catch((cause: unknown) => {
      throw new UnreadableItem("the service broke off", { cause });
    });
  try {
    for (let part = await next(); part && !part.done; part = await next()) yield part.value;
  } finally {
    await reader?.cancel().catch(() => undefined);
  }
}

const BLOCK = 256 * 1024;
const MAX_BUFFERED = 16;
const MAX_READ_BYTES = 128 * 1024 ** 2;
/** A file made to block the console, of countless parts of a few bytes, is not shown. */
const MAX_PARTS = 500_000;
const PARTS_A_TURN = 1000;

type Source = { answer: Response; blocks: AsyncGenerator<Buffer, void>; next: number; isWhole: boolean };

/** Throws `UnreadableItem` if the file is missing or breaks off, `NotCleanable` if too much of it would have to be read. */
export async function readOriginal<T>(
  access: Access,
  item: ShareItem,
  signal: AbortSignal,
  work: (file: MediaReader) => Promise<T>,
): Promise<T> {
  const buffered = new Map<number, Buffer>();
  let source: Source | undefined;
  let bytesRead = 0;
  let parts = 0;

  async function open(index: number): Promise<number | undefined> {
    await release(source);
    const from = index * BLOCK;
    const originalResult = await openOriginal(access, item, { signal, headers: { range: `bytes=${from}-${from + BLOCK - 1}` } });
    if (!originalResult.ok) throw new UnreadableItem(originalResult.failure.message);
    const { status, headers } = originalResult.value;
    const isWhole = status === 200;
    source = { answer: originalResult.value, blocks: blocksIn(originalResult.value), next: isWhole ? 0 : index, isWhole };
    if (rangeStartOf(originalResult.value) !== (isWhole ? 0 : from)) throw new UnreadableItem("the service sends something else");
    const size = Number((isWhole ? headers.get("content-length") : headers.get("content-range")?.split("/")[1]) ?? Number.NaN);
    if (!isWhole && !Number.isSafeInteger(size)) throw new UnreadableItem("the service does not say how long the file is");
    return Number.isSafeInteger(size) ? size : undefined;
  }

  async function nextBlock(): Promise<Buffer | undefined> {
    const next = await source?.blocks.next();
    if (!source || !next || next.done) return undefined;
    bytesRead += next.value.length;
    if (bytesRead > MAX_READ_BYTES) throw new NotCleanableError("too much of the file would have to be read");
    if (buffered.size >= MAX_BUFFERED) buffered.delete(Math.min(...buffered.keys()));
    buffered.set(source.next, next.value);
    source.next += 1;
    await othersTurn();
    return next.value;
  }

  async function block(index: number): Promise<Buffer> {
    const cachedBlock = buffered.get(index);
    if (cachedBlock) return cachedBlock;
    // Without ranges, the answer is read on to the block, or again from the beginning.
    if (!source?.isWhole || source.next > index) await open(index);
    for (;;) {
      const isNeeded = source?.next === index;
      const bytes = await nextBlock();
      if (!bytes) throw new UnreadableItem("the file ends too early");
      if (isNeeded) return bytes;
    }
  }

  async function sizeOfAll(): Promise<number> {
    const declared = await open(0);
    if (declared !== undefined) return declared;
    let counted = 0;
    for (let bytes = await nextBlock(); bytes; bytes = await nextBlock()) counted += bytes.length;
    return counted;
  }

  try {
    const size = await sizeOfAll();
    return await work({
      size,
      async read(at, length) {
        parts += 1;
        if (parts > MAX_PARTS) throw new NotCleanableError("too many parts");
        if (parts % PARTS_A_TURN === 0) await othersTurn();
        const buffers: Buffer[] = [];
        const end = Math.min(size, at + length);
        for (let index = Math.floor(at / BLOCK); index * BLOCK < end; index++) {
          const from = index * BLOCK;
          buffers.push((await block(index)).subarray(Math.max(0, at - from), end - from));
        }
        return buffers.length === 1 && buffers[0] ? buffers[0] : Buffer.concat(buffers);
      },
    });
  } finally {
    await release(source);
  }
}

/** If no block was ever requested, the generator has not locked the body, so it is cancelled here. */
async function release(source: Source | undefined): Promise<void> {
  await source?.blocks.return();
  if (source?.answer.body?.locked === false) await source.answer.body.cancel();
}

async function* blocksIn(response: Response): AsyncGenerator<Buffer, void> {
  let parts: Uint8Array[] = [];
  let length = 0;
  for await (const bytes of bytesIn(response)) {
    parts.push(bytes);
    length += bytes.byteLength;
    if (length < BLOCK) continue;
    const buffer = Buffer.concat(parts);
    let at = 0;
    for (; at + BLOCK <= buffer.length; at += BLOCK) yield buffer.subarray(at, at + BLOCK);
    [parts, length] = [[buffer.subarray(at)], buffer.length - at];
  }
  if (length > 0) yield Buffer.concat(parts);
}
