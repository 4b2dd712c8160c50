// Opens and reads the original bytes of shared items.

import "server-only";
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import { type Failure } from "@/lib/contract/failure";
import { operations } from "@/lib/contract/operations";
import { type Asset } from "@/lib/contract/schemas/asset";
import { failed, type Result } from "@/lib/shared/result";
import { openAssetBytes } from "../archive/stream-archive";
import { type Access } from "../connections/access";
import { type ShareItem } from "../store/shares";
import { type MediaReader, NotCleanableError } from "./clean/pieces";
import { shareNotFound } from "./open-share";

type Headers = Readonly<Record<string, string>>;
type ReadOptions = { signal: AbortSignal; headers?: Headers };

/** BLAKE3 in hexadecimal, if the service reports it. */
export function getContentHash({ asset_hash: hash }: Pick<Asset, "asset_hash">): string | undefined {
  return /^(?:blake3:)?([0-9a-f]{64})$/.exec(hash?.startsWith("sha256:") ? "" : (hash ?? ""))?.[1];
}

export async function openOriginal(
  access: Access,
  item: ShareItem,
  { signal, headers = {} }: ReadOptions,
): Promise<Result<Response, Failure>> {
  // Without a hash or a validator, a replaced file would not be detected.
  if (!item.isFixed && item.validator === undefined) return failed(shareNotFound);
  const uncheckedResult = await openUnchecked(access, item, { signal, headers });
  if (!uncheckedResult.ok || item.isFixed || toValidator(uncheckedResult.value) === item.validator) return uncheckedResult;
  await uncheckedResult.value.body?.cancel();
  return failed(shareNotFound);
}

export async function itemExists(access: Access, item: ShareItem, signal: AbortSignal): Promise<boolean> {
  if (item.asset !== undefined && item.isFixed) return (await findUnchangedAsset(access, item, signal)) !== undefined;
  const originalResult = await openOriginal(access, item, { signal, headers: { range: "bytes=0-0" } });
  if (originalResult.ok) await originalResult.value.body?.cancel();
  return originalResult.ok;
}

/** Detects a replaced file by its size and the service's ETag or date. */
export function toValidator({ headers }: Response): string {
  const size = headers.get("content-range")?.split("/")[1] ?? headers.get("content-length") ?? "";
  return [size, headers.get("etag") ?? headers.get("last-modified") ?? ""].join(" ");
}

/** Opens the current file without checks. Only for the share's creator, while the share is created. */
export async function openUnchecked(
  access: Access,
  item: ShareItem,
  { signal, headers = {} }: ReadOptions,
): Promise<Result<Response, Failure>> {
  if (item.file) return access.upstream.forward(operations.view, { query: item.file, signal, headers });
  const asset = await findUnchangedAsset(access, item, signal);
  return asset ? openAssetBytes(access, asset, signal, headers) : failed(shareNotFound);
}

async function findUnchangedAsset(
  access: Access,
  { asset: id, hash, isFixed }: ShareItem,
  signal: AbortSignal,
): Promise<Asset | undefined> {
  if (id === undefined) return undefined;
  const result = await access.upstream.call(operations.getAsset, { params: { id }, signal });
  return result.ok && (!isFixed || getContentHash(result.value) === hash) ? result.value : undefined;
}

/** The offset in the file at which the response begins. Returns undefined for anything but a full file or a range. */
export function getRangeStart({ status, headers }: Response): number | undefined {
  if (status === 200) return 0;
  const [, start] = /^bytes (\d+)-/.exec(headers.get("content-range") ?? "") ?? [];
  return status === 206 && start !== undefined ? Number(start) : undefined;
}

/** The service disconnected or did not deliver the file. A retry may succeed. */
export class UnreadableItemError extends Error {}

/** Yields bytes as they arrive. If the caller stops early, the response is cancelled. */
export async function* readBytes({ body }: Response): AsyncGenerator<Uint8Array, void> {
  const reader = body?.getReader();
  const readNext = () =>
    reader?.read().catch((cause: unknown) => {
      throw new UnreadableItemError("the service disconnected", { cause });
    });
  try {
    for (let part = await readNext(); part && !part.done; part = await readNext()) yield part.value;
  } finally {
    await reader?.cancel().catch(() => undefined);
  }
}

const BLOCK_BYTES = 256 * 1024;
const MAX_BUFFERED_BLOCKS = 16;
const MAX_READ_BYTES = 128 * 1024 ** 2;
/** Rejects malicious files with countless small parts, which would block the process. */
const MAX_READS = 500_000;
const READS_PER_YIELD = 1000;

type Source = { response: Response; blocks: AsyncGenerator<Buffer, void>; nextIndex: number; isFullFile: boolean };

/** Throws `UnreadableItemError` if the file is missing or truncated, and `NotCleanableError` if too much of it would have to be read. */
export async function readOriginal<T>(
  access: Access,
  item: ShareItem,
  signal: AbortSignal,
  work: (file: MediaReader) => Promise<T>,
): Promise<T> {
  const bufferedBlocks = new Map<number, Buffer>();
  let source: Source | undefined;
  let bytesRead = 0;
  let readCount = 0;

  async function openBlock(index: number): Promise<number | undefined> {
    await releaseSource(source);
    const from = index * BLOCK_BYTES;
    const originalResult = await openOriginal(access, item, { signal, headers: { range: `bytes=${from}-` } });
    if (!originalResult.ok) throw new UnreadableItemError(originalResult.failure.message);
    const { status, headers } = originalResult.value;
    const isFullFile = status === 200;
    source = { response: originalResult.value, blocks: readBlocks(originalResult.value), nextIndex: isFullFile ? 0 : index, isFullFile };
    if (getRangeStart(originalResult.value) !== (isFullFile ? 0 : from))
      throw new UnreadableItemError("the service returned a different range than requested");
    const size = Number((isFullFile ? headers.get("content-length") : headers.get("content-range")?.split("/")[1]) ?? Number.NaN);
    if (!isFullFile && !Number.isSafeInteger(size)) throw new UnreadableItemError("the service did not report the file size");
    return Number.isSafeInteger(size) ? size : undefined;
  }

  async function readNextBlock(): Promise<Buffer | undefined> {
    const next = await source?.blocks.next();
    if (!source || !next || next.done) return undefined;
    bytesRead += next.value.length;
    if (bytesRead > MAX_READ_BYTES) throw new NotCleanableError("too much of the file would have to be read");
    if (bufferedBlocks.size >= MAX_BUFFERED_BLOCKS) bufferedBlocks.delete(Math.min(...bufferedBlocks.keys()));
    bufferedBlocks.set(source.nextIndex, next.value);
    source.nextIndex += 1;
    await yieldToEventLoop();
    return next.value;
  }

  async function getBlock(index: number): Promise<Buffer> {
    const cachedBlock = bufferedBlocks.get(index);
    if (cachedBlock) return cachedBlock;
    // If the service ignores ranges, reads forward to the block, or restarts if it is already past it.
    const canContinue = source && (source.isFullFile ? source.nextIndex <= index : source.nextIndex === index);
    if (!canContinue) await openBlock(index);
    for (let canReopen = canContinue; ;) {
      const isNeeded = source?.nextIndex === index;
      const bytes = await readNextBlock();
      if (bytes && isNeeded) return bytes;
      if (bytes) continue;
      // Some services return less than the requested range.
      if (!canReopen || source?.isFullFile) throw new UnreadableItemError("the file ends too early");
      canReopen = false;
      await openBlock(index);
    }
  }

  async function findSize(): Promise<number> {
    const declaredSize = await openBlock(0);
    if (declaredSize !== undefined) return declaredSize;
    let size = 0;
    for (let bytes = await readNextBlock(); bytes; bytes = await readNextBlock()) size += bytes.length;
    return size;
  }

  try {
    const size = await findSize();
    return await work({
      size,
      async read(offset, length) {
        readCount += 1;
        if (readCount > MAX_READS) throw new NotCleanableError("too many reads");
        if (readCount % READS_PER_YIELD === 0) await yieldToEventLoop();
        const buffers: Buffer[] = [];
        const end = Math.min(size, offset + length);
        for (let index = Math.floor(offset / BLOCK_BYTES); index * BLOCK_BYTES < end; index++) {
          const from = index * BLOCK_BYTES;
          buffers.push((await getBlock(index)).subarray(Math.max(0, offset - from), end - from));
        }
        return buffers.length === 1 && buffers[0] ? buffers[0] : Buffer.concat(buffers);
      },
    });
  } finally {
    await releaseSource(source);
  }
}

/** If no block was read, the generator hasn't locked the body, so it is cancelled here. */
async function releaseSource(source: Source | undefined): Promise<void> {
  await source?.blocks.return();
  if (source?.response.body?.locked === false) await source.response.body.cancel();
}

async function* readBlocks(response: Response): AsyncGenerator<Buffer, void> {
  let chunks: Uint8Array[] = [];
  let length = 0;
  for await (const bytes of readBytes(response)) {
    chunks.push(bytes);
    length += bytes.byteLength;
    if (length < BLOCK_BYTES) continue;
    const buffer = Buffer.concat(chunks);
    let offset = 0;
    for (; offset + BLOCK_BYTES <= buffer.length; offset += BLOCK_BYTES) yield buffer.subarray(offset, offset + BLOCK_BYTES);
    [chunks, length] = [[buffer.subarray(offset)], buffer.length - offset];
  }
  if (length > 0) yield Buffer.concat(chunks);
}
