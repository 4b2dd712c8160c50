// Reseals stored rows with the ring's writing key.
// Guarantees: every row is opened, whichever key it names; at the end all are read again, so the report describes what is stored; an id
// that the ring has given to another key is found before anything is changed. Must never: seal what it could not open.

import "server-only";
import { type Sealed } from "../store/keys";
import { seal, unsealBy } from "./cipher";
import { type KeyRing } from "./key-ring";

/** A table with sealed rows. */
export type SealedRows<Row> = {
  list(): Promise<Row[]>;
  recordOf(row: Row): string;
  sealedOf(row: Row): Sealed;
  /** Only if it was not resealed meanwhile; tells whether it did. */
  reseal(row: Row, after: Sealed): Promise<boolean>;
};
/** By the key id that the rows name: their number at the end, and how many of them no key of the ring opens. */
export type Rotation = { resealed: number; sealedBy: ReadonlyMap<string, { count: number; unreadable: number }> };

/** An id under which the ring now holds another key than the one that sealed a row. */
export async function findReusedId<Row>(rows: SealedRows<Row>, ring: KeyRing): Promise<string | undefined> {
  for (const row of await rows.list()) {
    const sealed = rows.sealedOf(row);
    const opened = unsealBy(ring, rows.recordOf(row), sealed);
    if (opened && !opened.isNamed && ring.readable.has(sealed.ringKeyId)) return sealed.ringKeyId;
  }
  return undefined;
}

export async function rotateRows<Row>(rows: SealedRows<Row>, ring: KeyRing): Promise<Rotation> {
  let resealed = 0;
  for (const row of await rows.list()) {
    const sealed = rows.sealedOf(row);
    const opened = unsealBy(ring, rows.recordOf(row), sealed);
    if (!opened || sealed.ringKeyId === ring.writing.id) continue;
    if (await rows.reseal(row, seal(ring, rows.recordOf(row), opened.text))) resealed += 1;
  }
  return { resealed, sealedBy: await countSealed(rows, ring) };
}

export async function countSealed<Row>(rows: SealedRows<Row>, ring: KeyRing): Promise<Rotation["sealedBy"]> {
  const sealedBy = new Map<string, { count: number; unreadable: number }>();
  for (const row of await rows.list()) {
    const sealed = rows.sealedOf(row);
    const { count, unreadable } = sealedBy.get(sealed.ringKeyId) ?? { count: 0, unreadable: 0 };
    const isLost = unsealBy(ring, rows.recordOf(row), sealed) === undefined;
    sealedBy.set(sealed.ringKeyId, { count: count + 1, unreadable: unreadable + (isLost ? 1 : 0) });
  }
  return sealedBy;
}
