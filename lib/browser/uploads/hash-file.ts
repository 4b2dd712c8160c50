// Computes a file's BLAKE3 hash. At most two slices are in memory. Hashing can be paused and resumed.

import { createBLAKE3 } from "hash-wasm";

/** The position at which hashing was paused. The state may contain bytes of the file, so it must not leave this tab. */
export type HashCheckpoint = { offset: number; state: Uint8Array };
export type HashOutcome = { kind: "hashed"; hash: string } | { kind: "stopped"; at: HashCheckpoint } | { kind: "unreadable" };

export type HashOptions = {
  from?: HashCheckpoint;
  onProgress?: (bytes: number) => void;
  signal: { readonly aborted: boolean };
};

export const SLICE_BYTES = 4 * 1024 * 1024;

export async function hashFile(file: Blob, { from, onProgress, signal }: HashOptions): Promise<HashOutcome> {
  const hasher = (await createBLAKE3()).init();
  if (from) hasher.load(from.state);
  let offset = from?.offset ?? 0;
  const readSlice = (start: number) => (start < file.size ? file.slice(start, start + SLICE_BYTES).arrayBuffer() : undefined);
  try {
    for (let nextSlice = readSlice(offset); nextSlice;) {
      const slice = new Uint8Array(await nextSlice);
      if (signal.aborted) return { kind: "stopped", at: { offset, state: hasher.save() } };
      nextSlice = readSlice(offset + slice.length);
      // A file that shrinks while it is read would return empty slices forever.
      if (slice.length === 0) return { kind: "unreadable" };
      hasher.update(slice);
      offset += slice.length;
      onProgress?.(offset);
    }
  } catch {
    return { kind: "unreadable" };
  }
  return { kind: "hashed", hash: hasher.digest() };
}
