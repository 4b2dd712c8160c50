// Tags with how many assets carry them: over everything visible from kept counters, or over the assets that a filter leaves.
// Guarantees: exact; what a filter leaves is read slice by slice from narrow rows, so that a library of any size is counted in bounded
// memory.

import { type RawBuilder, sql } from "kysely";
import { type z } from "zod";
import { type tagsQuerySchema } from "@/lib/contract/schemas/tags";
import { type Database, query, type Reader } from "../store/database";
import { statement } from "../store/statement";
import { anyTag, type AssetFilter, forOwner, type OwnerFilter, readFilter, type ReadFilter } from "./asset-filter";
import { ownersOf } from "./list-assets";
import { type AssetMemory } from "./search/memory";

type TagsQuery = z.output<typeof tagsQuerySchema>;
type Counts = Map<string, number>;

export async function listTags(reader: Reader, userId: number, wanted: TagsQuery) {
  let counts = query
    .selectFrom("tag_counts")
    .select(({ fn }) => ["tag as name", fn.sum<number>("n").as("count")])
    .where("owner_id", "in", ownersOf(userId, wanted.include_public))
    .groupBy("tag");
  if (wanted.prefix) counts = counts.where(sql<boolean>`substr(tag, 1, length(${wanted.prefix})) = ${wanted.prefix}`);
  // A tag that nothing carries any more is remembered with 0.
  if (!wanted.include_zero) counts = counts.where("n", ">", 0);
  const total = (await reader.row(query.selectFrom(counts.as("tags")).select(({ fn }) => fn.countAll<number>().as("n"))))?.n ?? 0;
  const ordered = wanted.order === "name_asc" ? counts.orderBy("tag") : counts.orderBy("count", "desc").orderBy("tag");
  const tags = await reader.rows(ordered.limit(wanted.limit).offset(wanted.offset));
  return { tags, total, has_more: wanted.offset + tags.length < total };
}

export async function refineTags(
  { database, assetMemory }: { database: Database; assetMemory: AssetMemory },
  userId: number,
  wanted: AssetFilter & { limit: number },
): Promise<Record<string, number>> {
  const filter = readFilter(wanted);
  const counts: Counts = new Map();
  const tally = await assetMemory.tally(userId, filter, wanted.include_public);
  for (const owner of ownersOf(userId, wanted.include_public)) {
    if (tally) add(counts, await named(database, owner, tally));
    else if (!filter.isNever) add(counts, await countOf(database, filter, await forOwner(database, owner, filter)));
  }
  const ranked = [...counts].filter(([, n]) => n > 0).sort(([tag, n], [other, m]) => m - n || (tag < other ? -1 : 1));
  return Object.fromEntries(ranked.slice(0, wanted.limit));
}

async function countOf(reader: Reader, filter: ReadFilter, owned: OwnerFilter): Promise<Counts> {
  const { owner, found, isExact } = owned;
  if (found !== undefined) return countCodes(reader, owner, isExact ? search(found) : tested(found, owned));
  // All of them, less those that are left out: nothing else is asked for.
  const all = await reader.rows(query.selectFrom("tag_counts").select(["tag", "n"]).where("owner_id", "=", owner));
  const counts: Counts = new Map(all.map(({ tag, n }) => [tag, n]));
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

async function countCodes(reader: Reader, owner: number, slice: Slice): Promise<Counts> {
  const last = (await reader.row(query.selectFrom("assets").select(({ fn }) => fn.max("seq").as("seq"))))?.seq ?? 0;
  const byCode = new Map<number, number>();
  for (let from = 0; from <= last; from += SLICE) {
    const rows = sql<{ codes: string | null }>`select group_concat(codes, '') as codes from ${slice(from, from + SLICE - 1)}`;
    tally((await reader.row(statement(rows)))?.codes ?? "", byCode);
  }
  return named(reader, owner, byCode);
}

async function named(reader: Reader, owner: number, byCode: ReadonlyMap<number, number>): Promise<Counts> {
  const names = await reader.rows(query.selectFrom("tag_counts").select(["id", "tag"]).where("owner_id", "=", owner).where("n", ">", 0));
  return new Map(names.flatMap(({ id, tag }) => (byCode.has(id) ? [[tag, byCode.get(id) ?? 0] as const] : [])));
}

/** `,3,17,3`: read digit by digit, since splitting would make a text of each. */
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

function add(counts: Counts, more: Counts, sign = 1): void {
  for (const [tag, n] of more) counts.set(tag, (counts.get(tag) ?? 0) + sign * n);
}
