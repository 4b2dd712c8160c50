// Writes the files that nodes make: hashed while they are in memory, and synced, so that they need not be read again.
// Syncing goes on beside the work of the node: syncing many files at once costs hardly more than one.
// Guarantees: after `synced` everything written is on the disk; a failure is reported by the next call and never lost.

import { createHash } from "node:crypto";
import { type FileHandle, open } from "node:fs/promises";
import { Blake3Hasher } from "@napi-rs/blake-hash";

/** How many files may be open while they are synced. */
const MOST_OPEN = 16;

export type FileSaver = {
  save(path: string, content: Buffer): Promise<{ hash: string; sha256: string; byteLength: number }>;
  synced(): Promise<void>;
};

export function createFileSaver(): FileSaver {
  let underWay: Promise<void>[] = [];

  async function synced(): Promise<void> {
    const syncs = underWay;
    underWay = [];
    await Promise.all(syncs);
  }

  return {
    synced,
    async save(path, content) {
      if (underWay.length >= MOST_OPEN) await synced();
      const handle = await open(path, "wx", 0o600);
      const sync = writeSynced(handle, content);
      sync.catch(() => undefined); // reported by `synced`
      underWay.push(sync);
      return {
        hash: new Blake3Hasher().update(content).digest("hex"),
        sha256: createHash("sha256").update(content).digest("hex"),
        byteLength: content.byteLength,
      };
    },
  };
}

async function writeSynced(handle: FileHandle, content: Buffer): Promise<void> {
  try {
    await handle.writeFile(content);
    await handle.sync();
  } finally {
    await handle.close();
  }
}
