// A place of bytes that several processes may use. It carries a mark: the id of the database whose rows name what is stored there.
// Guarantees: nothing is written, removed or swept before the mark was seen to be this database's own; another database is refused.

import { type BlobPlace } from "../blob-store";

export type SharedPlace = BlobPlace & {
  readMark(): Promise<string | undefined>;
  /** Writes the mark if there is none; an existing one stays. */
  writeMark(mark: string): Promise<void>;
};

/** What is wrong with LIGHTDESK_BLOBS, worded for the operator who starts the service. */
export class ForeignPlace extends Error {}

export async function claimPlace(place: SharedPlace, id: string): Promise<void> {
  const mark = await place.readMark();
  if (mark === undefined) {
    if (!(await isEmpty(place)))
      throw new ForeignPlace(`${foreign("holds files and does not say whose")} Bring files there with npm run copy-blobs.`);
    await place.writeMark(id);
  }
  if ((mark ?? (await place.readMark())) !== id)
    throw new ForeignPlace(`${foreign("holds the files of another database")} Restore that database from a backup, or set another place.`);
}

async function isEmpty(place: BlobPlace): Promise<boolean> {
  const first = await place.list()[Symbol.asyncIterator]().next();
  return first.done === true;
}

const foreign = (what: string) => `LIGHTDESK_BLOBS must be this service's own place: it ${what}, which would be swept away.`;

/** Everything that changes the place waits for `claimed` first. */
export function guarded(place: BlobPlace, claimed: () => Promise<void>): BlobPlace {
  return {
    ...place,
    adopt: async (staged) => claimed().then(() => place.adopt(staged)),
    remove: async (hash) => claimed().then(() => place.remove(hash)),
    tidy: async () => claimed().then(() => place.tidy()),
    async *list() {
      await claimed();
      yield* place.list();
    },
  };
}
