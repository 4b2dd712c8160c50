// Which of the assets that a user sees match a filter, as a set of bits.
// Guarantees: the same result as the tests of `owner-filter`. Undefined if only those can tell: the index does not hold all metadata of an
// asset.

import { sql } from "kysely";
import { type ReadFilter } from "@/lib/service/assets/asset-filter";
import { assetChanges } from "@/lib/service/store/asset-triggers";
import { query, type Reader } from "@/lib/service/store/database";
import { statement } from "@/lib/service/store/statement";
import { PUBLIC_OWNER } from "@/lib/service/users/user";
import { type Bits, countBits, eachBit, intersect, newBits, subtract, union, withBit } from "./bits";
import { forOwner } from "./owner-filter";
import { type Sets } from "./sets";
import { ownedBy, type Table } from "./table";

type Known = { reader: Reader; sets: Sets; table: Table };

/** Up to this many names are tested one by one; for more, all names are searched and the answer is kept. */
const FEW = 30_000;

/** The caller may change the returned set. */
export async function matching(known: Known, userId: number, filter: ReadFilter, includePublic: boolean): Promise<Bits | undefined> {
  const owners = includePublic ? [userId, PUBLIC_OWNER] : [userId];
  if (filter.isNever) return newBits(0);
  const bits = together(await Promise.all(owners.map((owner) => ofOwner(known, owner)))).slice();
  const codes = await codesOf(known.reader, owners, [...filter.include, ...filter.exclude]);
  for (const tag of filter.include) intersect(bits, await withTag(known, codes.get(tag)));
  for (const tag of filter.exclude) subtract(bits, await withTag(known, codes.get(tag)));
  if (filter.metadata.length > 0) {
    const sets = await Promise.all(owners.map((owner) => withMetadata(known, owner, filter)));
    if (sets.includes(undefined)) return undefined;
    intersect(bits, together(sets.filter((set) => set !== undefined)));
  }
  if (filter.name !== "") await keepNamed(known, bits, filter.name);
  return bits;
}

function ofOwner({ sets, table }: Known, owner: number): Promise<Bits> {
  const { owners } = table;
  const find = () => ownedBy(table, owner);
  const test = (seq: number) => owners[seq] === owner;
  return sets.get({ name: `owner ${owner}`, kinds: assetChanges.existence, find, test }, table.position);
}

/** The numbers of each tag: one per owner that has used it. */
async function codesOf(reader: Reader, owners: readonly number[], tags: readonly string[]): Promise<Map<string, number[]>> {
  const codes = new Map<string, number[]>();
  if (tags.length === 0) return codes;
  const rows = query.selectFrom("tag_counts").select(["id", "tag"]).where("owner_id", "in", owners).where("tag", "in", tags);
  for (const { id, tag } of await reader.rows(rows)) codes.set(tag, [...(codes.get(tag) ?? []), id]);
  return codes;
}

async function withTag({ sets, table }: Known, codes: readonly number[] = []): Promise<Bits> {
  const carriers = codes.map((id) => {
    const test = (seq: number) => table.codes.holds(seq, id);
    const find = () => table.codes.find(id, table.end);
    return sets.get({ name: `tag ${id}`, kinds: assetChanges.tags, find, test }, table.position);
  });
  return together(await Promise.all(carriers));
}

async function withMetadata({ reader, sets, table }: Known, owner: number, filter: ReadFilter): Promise<Bits | undefined> {
  const { found: term, isExact } = await forOwner(reader, owner, { ...filter, include: [], exclude: [], name: "" });
  if (term === undefined || !isExact) return undefined;
  const find = async () => {
    const rows = sql<{ seqs: string }>`select json_group_array(rowid) as seqs from asset_search where asset_search match ${term}`;
    const seqs: number[] = JSON.parse((await reader.row(statement(rows)))?.seqs ?? "[]"); // json_group_array of whole numbers
    return seqs.reduce((bits, seq) => withBit(bits, seq, true), newBits(table.end));
  };
  return sets.get({ name: `metadata ${term}`, kinds: assetChanges.metadata, find }, table.position);
}

async function keepNamed({ sets, table }: Known, bits: Bits, name: string): Promise<void> {
  const piece = table.names.piece(name);
  const test = (seq: number) => table.names.holds(seq, piece);
  const recipe = { name: `name ${name}`, kinds: assetChanges.name, find: () => table.names.find(piece, table.end), test };
  if (!sets.isKept(recipe.name) && countBits(bits) <= FEW) eachBit(bits, (seq) => void (test(seq) || withBit(bits, seq, false)));
  else intersect(bits, await sets.get(recipe, table.position));
}

function together(sets: readonly Bits[]): Bits {
  const [first = newBits(0), ...others] = sets;
  return others.reduce(union, first);
}
