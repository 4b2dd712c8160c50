import { randomBytes } from "node:crypto";
import { closeSync, openSync, rmSync, statfsSync, writeSync } from "node:fs";
import { join } from "node:path";
import { isFullDisk } from "../error-codes";

const MAX_RESERVE_BYTES = 8 * 1024 ** 2;
const MAX_DISK_RATIO = 1 / 16;
const CHUNK_BYTES = 256 * 1024;
const MIN_FREE_BYTES = 1024 ** 2;

export function ensureReserve(folder: string): boolean {
  const { bsize, blocks } = statfsSync(folder);
  const bytes = Math.min(MAX_RESERVE_BYTES, Math.floor(bsize * blocks * MAX_DISK_RATIO));
  // Random, so that disks with compression also reserve the full size.
  const chunk = randomBytes(CHUNK_BYTES);
  let descriptor: number | undefined;
  try {
    descriptor = openSync(join(folder, "reserve"), "w", 0o600);
    for (let offset = 0; offset < bytes;) offset += writeSync(descriptor, chunk, 0, Math.min(CHUNK_BYTES, bytes - offset));
    const diskStats = statfsSync(folder);
    return diskStats.bavail * diskStats.bsize >= MIN_FREE_BYTES;
  } catch (error) {
    if (isFullDisk(error)) return false;
    throw error;
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

export function releaseReserve(folder: string): void {
  rmSync(join(folder, "reserve"), { force: true });
}

/** Runs `work` again without the reserve if the disk is full. `work` must undo itself when it fails. */
export function retryWithReserve<T>(folder: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!isFullDisk(error)) throw error;
  }
  releaseReserve(folder);
  try {
    return work();
  } finally {
    ensureReserve(folder);
  }
}
