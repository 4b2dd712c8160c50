// Disk space kept back for writes that make room: a file that is given up for the length of one write, and taken again after it.
// Guarantees: between two turns of the event loop it is taken, as far as there is room; its bytes are random, so packing disks hold it in
// full.
// Must never: be used for data that grows: each use may leave the reserve a little smaller until there is room again.

import { randomBytes } from "node:crypto";
import { closeSync, openSync, rmSync, statfsSync, writeSync } from "node:fs";
import { dirname } from "node:path";

const WANTED_BYTES = 8 * 1024 ** 2;
const SHARE_OF_A_SMALL_DISK = 1 / 16;
const PIECE_BYTES = 256 * 1024;
const LEAST_LEFT_BYTES = 1024 ** 2;

export type DiskReserve = {
  /** Takes what is free, up to the wanted size; false if hardly anything is left beside it: the disk is full. */
  hold(): boolean;
  release(): void;
  /** Runs `work`; if the disk is too full for it, runs it once more with the reserve. `work` undoes itself when it fails. */
  spendOn<T>(work: () => T): T;
};

export function isFullDisk(error: unknown): boolean {
  // SQLITE_IOERR_SHMSIZE: no room for the index of SQLite's log.
  return error instanceof Error && "code" in error && /^(ENOSPC|EDQUOT|SQLITE_FULL|SQLITE_IOERR_SHMSIZE)$/.test(String(error.code));
}

/** The folder must exist. Nothing is taken yet. */
export function createDiskReserve(file: string): DiskReserve {
  const release = () => rmSync(file, { force: true });

  function hold(): boolean {
    const { bsize, blocks } = statfsSync(dirname(file));
    const wanted = Math.min(WANTED_BYTES, Math.floor(bsize * blocks * SHARE_OF_A_SMALL_DISK));
    const piece = randomBytes(PIECE_BYTES);
    let descriptor: number | undefined;
    try {
      descriptor = openSync(file, "w", 0o600);
      for (let written = 0; written < wanted;) written += writeSync(descriptor, piece, 0, Math.min(PIECE_BYTES, wanted - written));
      const left = statfsSync(dirname(file));
      return left.bavail * left.bsize >= LEAST_LEFT_BYTES;
    } catch (error) {
      if (isFullDisk(error)) return false;
      throw error;
    } finally {
      if (descriptor !== undefined) closeSync(descriptor);
    }
  }

  return {
    hold,
    release,
    spendOn(work) {
      try {
        return work();
      } catch (error) {
        if (!isFullDisk(error)) throw error;
      }
      release();
      try {
        return work();
      } finally {
        hold();
      }
    },
  };
}
