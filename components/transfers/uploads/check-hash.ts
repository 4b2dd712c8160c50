// Whether what the service says it holds is what was sent.
// Guarantees: "verified" only where the very BLAKE3 that was made here came back; a size that differs is an alarm too.

import { type Check, type StoredAsset } from "./upload-item";

const hex = /^[0-9a-f]{64}$/;

/** `hash`: ours, as bare hexadecimal digits; undefined where there is none. */
export function checkStored(asset: StoredAsset, { size, hash }: { size: number; hash: string | undefined }): Check {
  if (asset.size !== undefined && asset.size !== size) return { kind: "differs", theirs: String(asset.size) };
  if (hash === undefined) return { kind: "unchecked", why: "not-hashed" };
  if (asset.asset_hash === undefined || asset.asset_hash === "") return { kind: "unchecked", why: "no-hash" };
  const theirs = asset.asset_hash.toLowerCase();
  const digits = theirs.startsWith("blake3:") ? theirs.slice("blake3:".length) : theirs;
  // Another algorithm, or a name that is no hash: nothing to compare with.
  if (!hex.test(digits)) return { kind: "unchecked", why: "other-hash" };
  return digits === hash ? { kind: "verified" } : { kind: "differs", theirs };
}
