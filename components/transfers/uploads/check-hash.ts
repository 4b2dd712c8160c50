// Compares what the service says it holds with what was sent.
// Guarantees: "verified" only if exactly the BLAKE3 made here came back; a different size is an alarm too.

import { type Check, type StoredAsset } from "./upload-item";

const hex = /^[0-9a-f]{64}$/;

/** `hash`: ours, as bare hexadecimal digits; undefined if there is none. */
export function checkStored(asset: StoredAsset, { size, hash }: { size: number; hash: string | undefined }): Check {
  if (asset.size !== undefined && asset.size !== size) return { kind: "differs", theirs: String(asset.size) };
  if (hash === undefined) return { kind: "unchecked", why: "not-hashed" };
  if (asset.asset_hash === undefined || asset.asset_hash === "") return { kind: "unchecked", why: "no-hash" };
  const theirs = asset.asset_hash.toLowerCase();
  const digits = theirs.startsWith("blake3:") ? theirs.slice("blake3:".length) : theirs;
  // Another algorithm, or a name that is no hash: it cannot be compared.
  if (!hex.test(digits)) return { kind: "unchecked", why: "other-hash" };
  return digits === hash ? { kind: "verified" } : { kind: "differs", theirs };
}
