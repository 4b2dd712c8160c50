// The original of what is shared, at its service.
// Guarantees: it is there only while the service has it under the id that was shared, with the content that was shared.
// Must never: be handed a name or an id that came from a stranger.

import "server-only";
import { operations } from "@/lib/contract/operations";
import { type Asset } from "@/lib/contract/schemas/asset";
import { failed, ok, type Result } from "@/lib/shared/result";
import { type Failure } from "@/lib/contract/failure";
import { openAssetBytes } from "../archive/stream-archive";
import { type Access } from "../connections/access";
import { type ShareItem } from "../store/shares";
import { noShare } from "./open-share";

type Headers = Readonly<Record<string, string>>;
type Asking = { signal: AbortSignal; headers?: Headers };

/** BLAKE3 in hexadecimal, where the service told it. */
export function hashOf({ asset_hash: hash }: Pick<Asset, "asset_hash">): string | undefined {
  return /^(?:blake3:)?([0-9a-f]{64})$/.exec(hash?.startsWith("sha256:") ? "" : (hash ?? ""))?.[1];
}

export async function openOriginal(access: Access, item: ShareItem, { signal, headers = {} }: Asking): Promise<Result<Response, Failure>> {
  // Without either, another file under the same name could not be told apart.
  if (!item.isFixed && item.validator === undefined) return failed(noShare);
  const opened = await openUnchecked(access, item, { signal, headers });
  if (!opened.ok || item.isFixed || validatorOf(opened.value) === item.validator) return opened;
  await opened.value.body?.cancel();
  return failed(noShare);
}

/** Without reading it. */
export async function isThere(access: Access, item: ShareItem, signal: AbortSignal): Promise<boolean> {
  if (item.asset !== undefined && item.isFixed) return (await sameAsset(access, item, signal)) !== undefined;
  const opened = await openOriginal(access, item, { signal, headers: { range: "bytes=0-0" } });
  if (opened.ok) await opened.value.body?.cancel();
  return opened.ok;
}

/** What tells a file at a place from another one that took the place: the size and the service's own word. */
export function validatorOf({ headers }: Response): string {
  const total = headers.get("content-range")?.split("/")[1] ?? headers.get("content-length") ?? "";
  return [total, headers.get("etag") ?? headers.get("last-modified") ?? ""].join(" ");
}

/** Whatever is in its place now: for its maker alone, while the share is made. */
export async function openUnchecked(access: Access, item: ShareItem, { signal, headers = {} }: Asking): Promise<Result<Response, Failure>> {
  if (item.file) return access.upstream.forward(operations.view, { query: item.file, signal, headers });
  const asset = await sameAsset(access, item, signal);
  return asset ? openAssetBytes(access, asset, signal, headers) : failed(noShare);
}

async function sameAsset(access: Access, { asset: id, hash, isFixed }: ShareItem, signal: AbortSignal): Promise<Asset | undefined> {
  if (id === undefined) return undefined;
  const asset = await access.upstream.call(operations.getAsset, { params: { id }, signal });
  return asset.ok && (!isFixed || hashOf(asset.value) === hash) ? asset.value : undefined;
}

/** Its size, and stretches of it by requests for ranges; of a service that knows none, what it answers is read once, up to a bound. */
export async function originalReading(access: Access, item: ShareItem, signal: AbortSignal): Promise<Result<OriginalReading, Failure>> {
  let fetched = 0;
  const blocks = new Map<number, Buffer>();
  let whole: Buffer | undefined;
  let size = 0;

  async function fetchBlock(index: number): Promise<Result<Buffer, Failure>> {
    const from = index * BLOCK;
    const opened = await openOriginal(access, item, { signal, headers: { range: `bytes=${from}-${from + BLOCK - 1}` } });
    if (!opened.ok) return opened;
    const { status, headers } = opened.value;
    const total = Number(headers.get("content-range")?.split("/")[1] ?? Number.NaN);
    const isPart = status === 206 && Number.isSafeInteger(total);
    if (isPart) size = total;
    const body = new Response(limited(opened.value.body, isPart ? BLOCK : MOST_READ));
    const bytes = await body.arrayBuffer().catch((cause: unknown) => {
      throw cause instanceof TooMuch ? cause : new TooMuch("the service broke off", { cause });
    });
    fetched += bytes.byteLength;
    if (isPart) return ok(Buffer.from(bytes));
    whole = Buffer.from(bytes);
    size = whole.length;
    return ok(whole.subarray(from, from + BLOCK));
  }

  async function block(index: number): Promise<Buffer> {
    const known = blocks.get(index);
    if (known) return known;
    if (fetched >= MOST_READ) throw new TooMuch("too much of the file would have to be read");
    const made = whole?.subarray(index * BLOCK, (index + 1) * BLOCK) ?? valueOf(await fetchBlock(index));
    if (blocks.size >= MOST_BLOCKS) blocks.clear();
    blocks.set(index, made);
    return made;
  }

  const first = await fetchBlock(0);
  if (!first.ok) return first;
  blocks.set(0, first.value);
  return ok({
    size,
    async read(at, length) {
      const parts: Buffer[] = [];
      const end = Math.min(size, at + length);
      for (let index = Math.floor(at / BLOCK); index * BLOCK < end; index++) {
        const from = index * BLOCK;
        parts.push((await block(index)).subarray(Math.max(0, at - from), end - from));
      }
      return parts.length === 1 && parts[0] ? parts[0] : Buffer.concat(parts);
    },
  });
}

type OriginalReading = { size: number; read(at: number, length: number): Promise<Buffer> };
export class TooMuch extends Error {}

const BLOCK = 256 * 1024;
const MOST_BLOCKS = 16;
const MOST_READ = 128 * 1024 ** 2;

function valueOf(result: Result<Buffer, Failure>): Buffer {
  if (!result.ok) throw new TooMuch(result.failure.message);
  return result.value;
}

function limited(body: ReadableStream<Uint8Array> | null, most: number): ReadableStream<Uint8Array> | null {
  let count = 0;
  return (
    body?.pipeThrough(
      new TransformStream<Uint8Array, Uint8Array>({
        transform(chunk, controller) {
          count += chunk.byteLength;
          if (count > most) throw new TooMuch("the service sends more than was asked for");
          controller.enqueue(chunk);
        },
      }),
    ) ?? null
  );
}
