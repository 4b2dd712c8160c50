// Counts the tags of the assets that match a filter, slice by slice from narrow rows, so that a library of any size takes bounded memory.

import { type RawBuilder, sql } from "kysely";
import { type ReadFilter } from "@/lib/service/assets/asset-filter";
import { query, type Reader, statement } from "@/lib/service/store/database";
import { anyTag, forOwner, type OwnerFilter } from "./owner-filter";

type TagCounts = Map<string, number>;

/** How many of the matching assets carry each tag. */
export async function countTags(reader: Reader, owners: readonly number[], filter: ReadFilter): Promise<TagCounts> {
  const counts: TagCounts = new Map();
  if (filter.isNever) return counts;
  for (const owner of owners) add(counts, await countOf(reader, filter, await forOwner(reader, owner, filter)));
  return counts;
}

async function countOf(reader: Reader, filter: ReadFilter, owned: OwnerFilter): Promise<TagCounts> {
  const { owner, found, isExact } = owned;
  if (found !== undefined) return countCodes(reader, owner, isExact ? search(found) : tested(found, owned));
  // The filter only excludes tags: counts all assets, minus the excluded ones.
  const all = await reader.rows(query.selectFrom("tag_counts").select(["tag", "n"]).where("owner_id", "=", owner));
  const counts: TagCounts = new Map(all.map(({ tag, n }) => [tag, n]));
  if (filter.exclude.length > 0) add(counts, await countCodes(reader, owner, search(anyTag(owner, filter.exclude))), -1);
  return counts;
}

/** Rows of `asset_tag_codes` between two numbers of assets. */
type Slice = (from: number, to: number) => RawBuilder<unknown>;

const search =
  (found: string): Slice =>
  (from, to) => sql`asset_search cross join asset_tag_codes on asset_seq = asset_search.rowid
    where asset_search match ${found} and asset_search.rowid between ${from} and ${to}`;

const tested =
  (found: string, { owner, tests }: OwnerFilter): Slice =>
  (from, to) => sql`asset_tag_codes where asset_seq in
    (select assets.seq from asset_search cross join assets on assets.seq = asset_search.rowid where asset_search match ${found}
      and owner_id = ${owner} and assets.seq between ${from} and ${to} and ${sql.join(tests, sql` and `)})`;

const SLICE = 2 ** 18;

async function countCodes(reader: Reader, owner: number, slice: Slice): Promise<TagCounts> {
  const last = (await reader.row(query.selectFrom("assets").select(({ fn }) => fn.max("seq").as("seq"))))?.seq ?? 0;
  const byCode = new Map<number, number>();
  for (let from = 0; from <= last; from += SLICE) {
    const rows = sql<{ codes: string | null }>`select group_concat(codes, '') as codes from ${slice(from, from + SLICE - 1)}`;
    tally((await reader.row(statement(rows)))?.codes ?? "", byCode);
  }
  return named(reader, owner, byCode);
}

async function named(reader: Reader, owner: number, byCode: ReadonlyMap<number, number>): Promise<TagCounts> {
  const names = await reader.rows(query.selectFrom("tag_counts").select(["id", "tag"]).where("owner_id", "=", owner).where("n", ">", 0));
  return new Map(names.flatMap(({ id, tag }) => (byCode.has(id) ? [[tag, byCode.get(id) ?? 0] as const] : [])));
}

/** Reads `,3,17,3` digit by digit, since splitting would make a string of each number. */
function tally(codes: string, counts: Map<number, number>): void {
  let code = 0;
  for (let at = 1; at <= codes.length; at += 1) {
    const digit = codes.charCodeAt(at) - 48;
    if (digit >= 0 && digit <= 9) {
      code = code * 10 + digit;
      continue;
    }
    counts.set(code, (counts.get(code) ?? 0) + 1);
    code = 0;
  }
}

function add(counts: TagCounts, more: TagCounts, sign = 1): void {
  for (const [tag, n] of more) counts.set(tag, (counts.get(tag) ?? 0) + sign * n);
}
