// Bytes, once per content, by their hash: the one door to where they lie (docs/decisions/0056). Whoever asks does not know which place
// is used.
// Guarantees: a blob that is about to be named (`hold`) is not swept or dropped in between.
// Must never hold a blob in memory.

import { type StagedFile } from "./staged-file";
import { type StoredBytes } from "./blobs/stored-bytes";

export type Content = Pick<StagedFile, "path" | "hash" | "size">;

/** Where bytes lie. It knows nothing of rows. */
export type BlobPlace = {
  /** Files by their hash in the layout of blob-path.ts, as far as this machine has them: for workers. What is not there is not asked for. */
  folder: string;
  /** Gives a staged file its place; the caller holds the hash and has had the bytes synced. The staged file itself stays the caller's to remove. */
  adopt(staged: Content): Promise<void>;
  has(hash: string): Promise<boolean>;
  /** `size`: what it was stored with. */
  open(hash: string, size: number): Promise<StoredBytes>;
  /** For what reads files: each lies at its path until `use` has ended. Nothing lies at the path of one whose bytes are missing. */
  withFiles<T>(hashes: readonly string[], use: (pathOf: (hash: string) => string) => Promise<T>): Promise<T>;
  remove(hash: string): Promise<void>;
  /** Every hash that it has. */
  list(): AsyncIterable<string>;
  /** Removes what uploads that were cut off have left. */
  tidy(): Promise<void>;
  /** Where this machine keeps copies: those of bytes that no row names any more. Returns how many went. */
  sweepCache?(named: Named): Promise<number>;
};

/** What is being named at this moment, so that nobody removes it. */
export type Holds = {
  /** Keeps `hashes` until `work` (which commits the rows that name them) has ended. */
  hold<T>(hashes: readonly string[], work: () => Promise<T>): Promise<T>;
  /** Whether `remove` has run: not where the hash is held, or a row names it. */
  unlessHeld(hash: string, remove: () => Promise<void>): Promise<boolean>;
};

export type BlobStore = Omit<BlobPlace, "remove" | "list" | "tidy" | "sweepCache"> &
  Pick<Holds, "hold"> & {
    /** Removes a blob that no row names any more. */
    drop(hash: string): Promise<void>;
    /** Mark and sweep after a crash: everything that no row names goes, until `goOn` says no. Returns how many went. */
    sweep(goOn: () => boolean): Promise<number>;
    /** The same of this machine's copies. */
    sweepCache(): Promise<number>;
  };

/** Those of `hashes` that rows name. */
export type Named = (hashes: readonly string[]) => Promise<ReadonlySet<string>>;

const SWEPT_AT_ONCE = 500;

export function createBlobStore(place: BlobPlace, { hold, unlessHeld }: Holds, named: Named): BlobStore {
  const { folder, adopt, has, open, withFiles } = place;
  const remove = (hash: string) => unlessHeld(hash, () => place.remove(hash));

  async function* pages(): AsyncGenerator<string[]> {
    let page: string[] = [];
    for await (const hash of place.list()) {
      if (page.push(hash) < SWEPT_AT_ONCE) continue;
      yield page;
      page = [];
    }
    if (page.length > 0) yield page;
  }

  return {
    folder,
    adopt,
    has,
    open,
    withFiles,
    hold,
    drop: async (hash) => void (await remove(hash)),

    sweepCache: async () => (await place.sweepCache?.(named)) ?? 0,

    async sweep(goOn) {
      let removed = 0;
      for await (const page of pages()) {
        const rows = await named(page);
        for (const hash of page) {
          if (!goOn()) return removed;
          if (!rows.has(hash) && (await remove(hash))) removed += 1;
        }
      }
      await place.tidy();
      return removed;
    },
  };
}

/** For a place that one process has to itself. */
export function createOwnHolds(named: Named): Holds {
  const held = new Map<string, number>();
  const removing = new Map<string, Promise<unknown>>();

  async function removeUnnamed(hash: string, remove: () => Promise<void>): Promise<boolean> {
    if ((await named([hash])).has(hash)) return false;
    await remove();
    return true;
  }

  function release(hash: string): void {
    const left = (held.get(hash) ?? 1) - 1;
    if (left > 0) held.set(hash, left);
    else held.delete(hash);
  }

  return {
    async hold(hashes, work) {
      for (const hash of hashes) held.set(hash, (held.get(hash) ?? 0) + 1);
      try {
        // What is going goes first: what is stored now must stay.
        await Promise.allSettled(hashes.flatMap((hash) => removing.get(hash) ?? []));
        return await work();
      } finally {
        hashes.forEach(release);
      }
    },

    async unlessHeld(hash, remove) {
      // Nobody begins to hold it before the removal has ended, and whoever held it has committed what names it.
      while (removing.has(hash)) await removing.get(hash)?.catch(() => undefined);
      if (held.has(hash)) return false;
      const removal = removeUnnamed(hash, remove).finally(() => removing.delete(hash));
      removing.set(hash, removal);
      return removal;
    },
  };
}
