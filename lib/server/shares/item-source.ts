// The original of a shared item, at its service.
// Guarantees: found only while the service has it under the shared id, with the shared content.
// Must never: be given a name or an id from a stranger.

import "server-only";
import { type Failure } from "@/lib/contract/failure";
import { operations } from "@/lib/contract/operations";
import { type Asset } from "@/lib/contract/schemas/asset";
import { failed, type Result } from "@/lib/shared/result";
import { openAssetBytes } from "../archive/stream-archive";
import { type Access } from "../connections/access";
import { type ShareItem } from "../store/shares";
import { noShare } from "./open-share";

type Headers = Readonly<Record<string, string>>;
type Asking = { signal: AbortSignal; headers?: Headers };

/** BLAKE3 in hexadecimal, if the service gave it. */
export function hashOf({ asset_hash: hash }: Pick<Asset, "asset_hash">): string | undefined {
  return /^(?:blake3:)?([0-9a-f]{64})$/.exec(hash?.startsWith("sha256:") ? "" : (hash ?? ""))?.[1];
}

export async function openOriginal(access: Access, item: ShareItem, { signal, headers = {} }: Asking): Promise<Result<Response, Failure>> {
  // Without a hash or a validator, another file under the same name would not be noticed.
  if (!item.isFixed && item.validator === undefined) return failed(noShare);
  const opened = await openUnchecked(access, item, { signal, headers });
  if (!opened.ok || item.isFixed || validatorOf(opened.value) === item.validator) return opened;
  await opened.value.body?.cancel();
  return failed(noShare);
}

/** Checks without reading the file. */
export async function isThere(access: Access, item: ShareItem, signal: AbortSignal): Promise<boolean> {
  if (item.asset !== undefined && item.isFixed) return (await sameAsset(access, item, signal)) !== undefined;
  const opened = await openOriginal(access, item, { signal, headers: { range: "bytes=0-0" } });
  if (opened.ok) await opened.value.body?.cancel();
  return opened.ok;
}

/** Distinguishes a file from another that took its place: the size, and the service's own ETag or date. */
export function validatorOf({ headers }: Response): string {
  const total = headers.get("content-range")?.split("/")[1] ?? headers.get("content-length") ?? "";
  return [total, headers.get("etag") ?? headers.get("last-modified") ?? ""].join(" ");
}

/** Opens the file that is there now, unchecked: only for the maker, while the share is made. */
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

/** Where in the file an answer begins, for a whole file or a range. Undefined for any other answer. */
export function beginOf({ status, headers }: Response): number | undefined {
  if (status === 200) return 0;
  const [, begin] = /^bytes (\d+)-/.exec(headers.get("content-range") ?? "") ?? [];
  return status === 206 && begin !== undefined ? Number(begin) : undefined;
}

/** The service broke off, or did not deliver the file; the next attempt may succeed. */
export class Unreadable extends Error {}

/** Bytes as they arrive; if the reader stops early, the answer is cancelled. */
export async function* bytesIn({ body }: Response): AsyncGenerator<Uint8Array, void> {
  const reader = body?.getReader();
  const next = () =>
    reader?.read().catch((cause: unknown) => {
      throw new Unreadable("the service broke off", { cause });
    });
  try {
    for (let part = await next(); part && !part.done; part = await next()) yield part.value;
  } finally {
    await reader?.cancel().catch(() => undefined);
  }
}
