// Stored bytes that are about to be read: how many there are, and any part of them as a stream.
// Guarantees of a file: it is opened once, so that what is deleted or replaced meanwhile is still read whole; no link is followed.

import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { type Readable } from "node:stream";
import { ServiceError } from "@/lib/service/service-error";

export type StoredBytes = {
  size: number;
  modifiedMs: number;
  /** Where nothing will be read: refuses what is not there. Absent where opening has told it. */
  check?(): Promise<void>;
  /** From `start` to `end`, both included. Takes the place of `close`. */
  read(start: number, end: number): Promise<Readable>;
  close(): Promise<void>;
};

const READ_AT_ONCE = 256 * 1024;
const REMEDY = "Upload the file again, or let whoever runs the service restore it from a backup.";

export async function openFile(path: string): Promise<StoredBytes> {
  const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW).catch((error: unknown) => {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
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
