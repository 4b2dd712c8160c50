// Which assets of those that a user sees pass a filter, as a set of bits.
// Guarantees: the same as the tests of `asset-filter` say. Undefined where only these can say it: metadata that the index does not know whole.

import { sql } from "kysely";
import { type Database, query } from "@/lib/service/store/database";
import { assetChanges } from "@/lib/service/store/asset-triggers";
import { statement } from "@/lib/service/store/statement";
import { PUBLIC_OWNER } from "@/lib/service/users/user";
import { forOwner, type ReadFilter } from "../asset-filter";
import { type Bits, countBits, eachBit, intersect, newBits, subtract, union, withBit } from "./bits";
import { type Sets } from "./sets";
import { ownedBy, type Table } from "./table";

type Known = { database: Database; sets: Sets; table: Table };

/** So many names are looked at one by one; for more of them, all names are, and the answer is kept. */
const FEW = 30_000;

/** The caller may change what it gets. */
export function matching(known: Known, userId: number, filter: ReadFilter, includePublic: boolean): Bits | undefined {
  const owners = includePublic ? [userId, PUBLIC_OWNER] : [userId];
  const bits = together(owners.map((owner) => ofOwner(known, owner))).slice();
  if (filter.isNever) return newBits(0);
  for (const tag of filter.include) intersect(bits, withTag(known, owners, tag));
  for (const tag of filter.exclude) subtract(bits, withTag(known, owners, tag));
  if (filter.metadata.length > 0) {
    const sets = owners.map((owner) => withMetadata(known, owner, filter));
    if (sets.includes(undefined)) return undefined;
    intersect(bits, together(sets.filter((set) => set !== undefined)));
  }
  if (filter.name !== "") keepNamed(known, bits, filter.name);
  return bits;
}

function ofOwner({ sets, table }: Known, owner: number): Bits {
  const { owners } = table;
  return sets.get({
    name: `owner ${owner}`,
    kinds: assetChanges.existence,
    find: () => ownedBy(table, owner),
    test: (seq) => owners[seq] === owner,
  });
}

function withTag({ database, sets, table }: Known, owners: readonly number[], tag: string): Bits {
  const codes = database.rows(query.selectFrom("tag_counts").select("id").where("owner_id", "in", owners).where("tag", "=", tag));
  return together(
    codes.map(({ id }) => {
      const test = (seq: number) => table.codes.holds(seq, id);
      return sets.get({ name: `tag ${id}`, kinds: assetChanges.tags, find: () => table.codes.find(id, table.end), test });
    }),
  );
}

function withMetadata({ database, sets, table }: Known, owner: number, filter: ReadFilter): Bits | undefined {
  const { found: term, isExact } = forOwner(database, owner, { ...filter, include: [], exclude: [], name: "" });
  if (term === undefined || !isExact) return undefined;
  const find = () => {
    const rows = sql<{ seqs: string }>`select json_group_array(rowid) as seqs from asset_search where asset_search match ${term}`;
    const seqs: number[] = JSON.parse(database.row(statement(rows))?.seqs ?? "[]"); // json_group_array of whole numbers
    return seqs.reduce((bits, seq) => withBit(bits, seq, true), newBits(table.end));
  };
  return sets.get({ name: `metadata ${term}`, kinds: assetChanges.metadata, find });
}

function keepNamed({ sets, table }: Known, bits: Bits, name: string): void {
  const piece = table.names.piece(name);
  const test = (seq: number) => table.names.holds(seq, piece);
  const recipe = { name: `name ${name}`, kinds: assetChanges.name, find: () => table.names.find(piece, table.end), test };
  if (!sets.isKept(recipe.name) && countBits(bits) <= FEW) eachBit(bits, (seq) => void (test(seq) || withBit(bits, seq, false)));
  else intersect(bits, sets.get(recipe));
}

function together(sets: readonly Bits[]): Bits {
  const [first = newBits(0), ...others] = sets;
  return others.reduce(union, first);
}
