// Stored bytes that are about to be read: their size, and any part of them as a stream.
// Guarantees for a file: it is opened once, so that it can still be read whole if it is deleted or replaced meanwhile; no link is followed.

import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { type Readable } from "node:stream";
import { ServiceError } from "@/lib/service/service-error";
import { codeOf } from "@/lib/shared/error-codes";

export type StoredBytes = {
  size: number;
  modifiedMs: number;
  /** For requests that read nothing: refuses missing bytes. Absent if opening has already checked this. */
  check?(): Promise<void>;
  /** From `start` to `end`, both included. Call it instead of `close`. */
  read(start: number, end: number): Promise<Readable>;
  close(): Promise<void>;
  /** A signed address at which the store itself sends the whole file with these headers. Absent where there is none. */
  address?(shown: Shown): Promise<string>;
};

/** Headers of an answer. */
export type Shown = { mediaType: string; disposition: string; caching: string };

const READ_AT_ONCE = 256 * 1024;
const REMEDY = "Upload the file again, or let whoever runs the service restore it from a backup.";

export async function openFile(path: string): Promise<StoredBytes> {
  const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW).catch((error: unknown) => {
    const code = codeOf(error);
    if (code !== "ENOENT" && code !== "ELOOP" && code !== "ENOTDIR") throw error;
    throw missingBytes();
  });
  try {
    const { size, mtimeMs } = await handle.stat();
    return {
      size,
      modifiedMs: mtimeMs,
      read: (start, end) => Promise.resolve(handle.createReadStream({ start, end, highWaterMark: READ_AT_ONCE })),
      close: () => handle.close(),
    };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

export function missingBytes(): ServiceError {
  return new ServiceError("NOT_FOUND", `The bytes of this file are missing from the store. ${REMEDY}`);
}

export function damagedBytes(): ServiceError {
  return new ServiceError("INTERNAL", `The bytes of this file are damaged. ${REMEDY}`);
}
