// Thumbnails on disk, bounded: one file each, the least recently used are deleted first. Each is made once for all who ask at the time.
// Guarantees: a file is whole or absent (written aside, then renamed), and damaged ones are made again; a full disk, a lost file or an
// unwritable folder costs speed, not the answer; the work ends when no one waits for it any more, and not before.

import "server-only";
import { createHash, randomUUID } from "node:crypto";
import { dirname, join } from "node:path";
import { type Failure } from "@/lib/contract/failure";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { readCached, writeCached } from "@/lib/shared/files";
import { ok, type Result } from "@/lib/shared/result";
import { telemetry } from "@/lib/shared/telemetry";
import { createBound } from "./bound";

type Made = Result<Uint8Array, Failure>;
type Wanted = {
  name: readonly string[];
  /** The content under this name may change: it is shared by those who ask now, but not stored. */
  isPassing?: boolean;
  /** A client that leaves does not end the work for others. The request itself is kept: once it is freed, its signal does not fire. */
  asker: { signal: AbortSignal };
};
export type ThumbnailCache = {
  /** `make` runs once for all who ask meanwhile; failures are not stored. */
  get(wanted: Wanted, make: (signal: AbortSignal) => Promise<Made>): Promise<Made>;
};
type Making = { made: Promise<Made>; askers: number; giveUp: AbortController };

const DIGEST_BYTES = 32;

export function createThumbnailCache({ folder, mostBytes = 512 * 1024 ** 2 }: { folder: string; mostBytes?: number }): ThumbnailCache {
  const making = new Map<string, Making>();
  const bound = createBound(folder, mostBytes);
  telemetry().metrics?.read("lightdesk_thumbnail_cache_bytes", bound.bytes);

  async function readOrMake(key: string, make: () => Promise<Made>): Promise<Made> {
    const file = join(folder, key.slice(0, 2), `${key.slice(2)}.webp`);
    const kept = await readKept(file);
    telemetry().metrics?.count("lightdesk_thumbnails_total", { result: kept ? "kept" : "made" });
    if (kept) return ok(kept);
    const made = await make();
    if (made.ok && (await keep(file, made.value))) bound.grew(made.value.byteLength + DIGEST_BYTES);
    return made;
  }

  function start(key: string, { isPassing }: Wanted, make: (signal: AbortSignal) => Promise<Made>): Making {
    const giveUp = new AbortController();
    const made = isPassing ? make(giveUp.signal) : readOrMake(key, () => make(giveUp.signal));
    const entry = { made: made.finally(() => leave(key, entry)), askers: 0, giveUp };
    making.set(key, entry);
    return entry;
  }

  /** Work that was given up is not shared: a new request starts it again. */
  function leave(key: string, entry: Making): void {
    if (making.get(key) === entry) making.delete(key);
  }

  return {
    async get(wanted, make) {
      const { name, asker } = wanted;
      const key = createHash("sha256").update(writeExactJson(name)).digest("hex");
      const entry = making.get(key) ?? start(key, wanted, make);
      entry.askers += 1;
      const gone = () => {
        entry.askers -= 1;
        if (entry.askers > 0) return;
        leave(key, entry);
        entry.giveUp.abort();
      };
      if (asker.signal.aborted) gone();
      else asker.signal.addEventListener("abort", gone, { once: true });
      try {
        return await entry.made;
      } finally {
        asker.signal.removeEventListener("abort", gone);
      }
    },
  };
}

/** A file holds the bytes and their digest. */
async function readKept(file: string): Promise<Uint8Array | undefined> {
  const kept = await readCached(file);
  const bytes = kept?.subarray(0, -DIGEST_BYTES);
  if (!kept || !bytes || bytes.length === 0 || !digestOf(bytes).equals(kept.subarray(-DIGEST_BYTES))) return undefined;
  return bytes;
}

function keep(file: string, bytes: Uint8Array): Promise<boolean> {
  return writeCached(file, join(dirname(file), `${randomUUID()}.part`), Buffer.concat([bytes, digestOf(bytes)]));
}

function digestOf(bytes: Uint8Array): Buffer {
  return createHash("sha256").update(bytes).digest();
}
