// How many assets of an owner match a filter: from kept counters if there is one, else counted inside the search index.
// If several conditions leave few assets, the search index is asked once: it returns their numbers, and the page is made from these.

import { type RawBuilder, sql } from "kysely";
import { type ReadFilter } from "@/lib/service/assets/asset-filter";
import { query, type Reader, statement } from "@/lib/service/store/database";
import { countOwned } from "../asset-search";
import { anyTag, type OwnerFilter } from "./owner-filter";

/** At most this many numbers are returned; they are in memory while a page is made. */
const MOST_LISTED = 200_000;

export type Matching = { total: number; seqs?: string };

/** `seqs`: the matching assets as a JSON list, if listing them cost no more than counting. */
export async function findMatching(reader: Reader, filter: ReadFilter, owned: OwnerFilter): Promise<Matching> {
  const { owner, found, isExact } = owned;
  const fewest = Math.min(...(await countTags(reader, owner, filter.include)).values());
  const conditions = filter.include.length + filter.metadata.length + Number(filter.name !== "");
  if (filter.isNever || fewest === 0) return { total: 0 };
  if (found === undefined || !isExact || conditions < 2 || fewest > MOST_LISTED)
    return { total: await countMatching(reader, filter, owned) };
  const rows = sql<{
    seqs: string;
    n: number;
  }>`select json_group_array(rowid) as seqs, count(*) as n from asset_search where asset_search match ${found}`;
  const row = await reader.row(statement(rows));
  return { total: row?.n ?? 0, seqs: row?.seqs };
}

async function countMatching(reader: Reader, filter: ReadFilter, owned: OwnerFilter): Promise<number> {
  const { owner, found, isExact } = owned;
  const { include, exclude, name, metadata } = filter;
  if (name === "" && metadata.length === 0) {
    if (include.length === 0 && exclude.length === 0) return countOwned(reader, owner);
    if (include.length + exclude.length === 1) {
      const [n = 0] = (await countTags(reader, owner, [...include, ...exclude])).values();
      return include.length === 1 ? n : (await countOwned(reader, owner)) - n;
    }
    if (found === undefined) return (await countOwned(reader, owner)) - (await countFound(reader, anyTag(owner, exclude)));
  }
  if (found !== undefined && isExact) return countFound(reader, found);
  return countRows(reader, gathered(owned));
}

/** The matching rows of `assets`: by their numbers if these are known, else by the search index where it helps. */
export function gathered({ owner, found, isExact, tests }: OwnerFilter, seqs?: string): RawBuilder<unknown> {
  if (seqs !== undefined) return sql`json_each(${seqs}) as listed cross join assets on assets.seq = listed.value`;
  const all = sql.join(tests, sql` and `);
  if (found === undefined) return sql`assets indexed by assets_by_folded_name where owner_id = ${owner} and ${all}`;
  const rest = isExact ? sql`` : sql` and ${all}`;
  return sql`asset_search cross join assets on assets.seq = asset_search.rowid where asset_search match ${found}${rest}`;
}

/** The row numbers that the search index finds, for use in `in`. */
export function foundSeqs(found: string, seqs?: string): RawBuilder<unknown> {
  return seqs === undefined
    ? sql`(select rowid from asset_search where asset_search match ${found})`
    : sql`(select value from json_each(${seqs}))`;
}

async function countTags(reader: Reader, owner: number, tags: readonly string[]): Promise<Map<string, number>> {
  const counts = new Map(tags.map((tag) => [tag, 0]));
  if (tags.length === 0) return counts;
  const rows = query.selectFrom("tag_counts").select(["tag", "n"]).where("owner_id", "=", owner).where("tag", "in", tags);
  for (const { tag, n } of await reader.rows(rows)) counts.set(tag, n);
  return counts;
}

function countFound(reader: Reader, found: string): Promise<number> {
  return countRows(reader, sql`asset_search where asset_search match ${found}`);
}

async function countRows(reader: Reader, rows: RawBuilder<unknown>): Promise<number> {
  return (await reader.row(statement(sql<{ n: number }>`select count(*) as n from ${rows}`)))?.n ?? 0;
}
