// A file of any size, read in parts: a file in this browser, or one at a service.
// Guarantees: only the requested parts are in memory; from a service without ranges, no more than a bound is read.

import { type Failure } from "@/lib/contract/failure";
import { ok, type Result } from "@/lib/shared/result";
import { type ApiFailure } from "../read-failure";
import { readFirstBytes } from "./first-bytes";

export type ByteSource = {
  size: number;
  /** Throws if it can no longer be read: `PartUnread` for a service, the browser's own error for a file that was moved or locked. */
  read: (from: number, to: number) => Promise<Uint8Array<ArrayBuffer>>;
  text: () => Promise<string>;
};

/** A part that a service did not deliver. */
export class PartUnread extends Error {
  constructor(readonly failure: Failure) {
    super(failure.message);
  }
}

export function bytesOfBlob(blob: Blob): ByteSource {
  return {
    size: blob.size,
    read: async (from, to) => new Uint8Array(await blob.slice(from, to).arrayBuffer()),
    text: () => blob.text(),
  };
}

const FIRST_BYTES = 256 * 1024;
const MOST_WITHOUT_RANGES = 24 * 1024 ** 2;

/** `src`: an address that `fetch` takes. */
export async function bytesAt(src: string): Promise<Result<ByteSource, ApiFailure>> {
  const first = await readFirstBytes(src, FIRST_BYTES);
  if (!first.ok) return first;
  const { bytes, isWhole, size } = first.value;
  if (isWhole) return ok(bytesOfBlob(new Blob([bytes])));
  if (size === undefined) {
    const more = await readFirstBytes(src, MOST_WITHOUT_RANGES);
    return more.ok ? ok(bytesOfBlob(new Blob([more.value.bytes]))) : more;
  }
  const read = async (from: number, to: number) => {
    if (to <= bytes.length) return bytes.slice(from, to);
    const part = await readFirstBytes(src, to - from, from);
    if (!part.ok) throw new PartUnread(part.failure);
    return part.value.bytes;
  };
  return ok({ size, read, text: async () => new TextDecoder().decode(await read(0, size)) });
}
