// How many assets of an owner a filter leaves: from kept counters where there is one, else counted inside the search index.
// Where several conditions leave few, the search index is asked once: it hands out their numbers, and the page is made from these.

import { type RawBuilder, sql } from "kysely";
import { type Database, query } from "../store/database";
import { statement } from "../store/statement";
import { anyTag, type OwnerFilter, type ReadFilter } from "./asset-filter";

export function countOwned(database: Database, owner: number): number {
  return database.row(query.selectFrom("asset_counts").select("n").where("owner_id", "=", owner))?.n ?? 0;
}

/** So many numbers are handed out at most; they are in memory while a page is made. */
const MOST_LISTED = 200_000;

export type Matching = { total: number; seqs?: string };

/** `seqs`: the matching assets as a JSON list, where that cost no more than counting them. */
export function findMatching(database: Database, filter: ReadFilter, owned: OwnerFilter): Matching {
  const { owner, found, isExact } = owned;
  const fewest = Math.min(...filter.include.map((tag) => countTag(database, owner, tag)));
  const conditions = filter.include.length + filter.metadata.length + Number(filter.name !== "");
  if (filter.isNever || fewest === 0) return { total: 0 };
  if (found === undefined || !isExact || conditions < 2 || fewest > MOST_LISTED) return { total: countMatching(database, filter, owned) };
  const rows = sql<{
    seqs: string;
    n: number;
  }>`select json_group_array(rowid) as seqs, count(*) as n from asset_search where asset_search match ${found}`;
  const row = database.row(statement(rows));
  return { total: row?.n ?? 0, seqs: row?.seqs };
}

function countMatching(database: Database, filter: ReadFilter, owned: OwnerFilter): number {
  const { owner, found, isExact } = owned;
  const { include, exclude, name, metadata } = filter;
  if (name === "" && metadata.length === 0) {
    if (include.length === 0 && exclude.length === 0) return countOwned(database, owner);
    if (include.length + exclude.length === 1) {
      const n = countTag(database, owner, [...include, ...exclude][0] ?? "");
      return include.length === 1 ? n : countOwned(database, owner) - n;
    }
    if (found === undefined) return countOwned(database, owner) - countFound(database, anyTag(owner, exclude));
  }
  if (found !== undefined && isExact) return countFound(database, found);
  return countRows(database, gathered(owned));
}

/** The matching rows of `assets`, by their numbers where these are known, else by the search index where it helps. */
export function gathered({ owner, found, isExact, tests }: OwnerFilter, seqs?: string): RawBuilder<unknown> {
  if (seqs !== undefined) return sql`json_each(${seqs}) as listed cross join assets on assets.seq = listed.value`;
  const all = sql.join(tests, sql` and `);
  if (found === undefined) return sql`assets indexed by assets_by_folded_name where owner_id = ${owner} and ${all}`;
  const rest = isExact ? sql`` : sql` and ${all}`;
  return sql`asset_search cross join assets on assets.seq = asset_search.rowid where asset_search match ${found}${rest}`;
}

/** The numbers of what the search index finds, for `in`. */
export function foundSeqs(found: string, seqs?: string): RawBuilder<unknown> {
  return seqs === undefined
    ? sql`(select rowid from asset_search where asset_search match ${found})`
    : sql`(select value from json_each(${seqs}))`;
}

function countTag(database: Database, owner: number, tag: string): number {
  return database.row(query.selectFrom("tag_counts").select("n").where("owner_id", "=", owner).where("tag", "=", tag))?.n ?? 0;
}

function countFound(database: Database, found: string): number {
  return countRows(database, sql`asset_search where asset_search match ${found}`);
}

function countRows(database: Database, rows: RawBuilder<unknown>): number {
  return database.row(statement(sql<{ n: number }>`select count(*) as n from ${rows}`))?.n ?? 0;
}
