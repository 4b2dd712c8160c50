// The filter of an asset list for one owner: what to ask the search index, and how to test one row.
// Guarantees: the tests alone decide what matches; `found` finds every asset that passes them, and if `isExact`, no other.

import { type RawBuilder, sql } from "kysely";
import { type Reader } from "@/lib/service/store/database";
import { statement } from "@/lib/service/store/statement";
import { type ReadFilter } from "@/lib/service/assets/asset-filter";
import { toRowTest, toSearchTerm } from "./metadata-test";
import { nameTerm, tagToken, unlistedToken } from "./tokens";

export type OwnerFilter = {
  owner: number;
  /** For the search index; undefined if it cannot help. */
  found?: string;
  isExact: boolean;
  tests: RawBuilder<boolean>[];
};

export async function forOwner(reader: Reader, owner: number, filter: ReadFilter): Promise<OwnerFilter> {
  const { include, exclude, name, metadata } = filter;
  const wanted = [
    ...include.map((tag) => tagToken(owner, tag)),
    nameTerm(owner, name) ?? [],
    ...metadata.map((condition) => toSearchTerm(owner, condition)),
  ]
    .flat()
    .join(" AND ");
  const unwanted = exclude.length === 0 ? "" : ` NOT ${anyTag(owner, exclude)}`;
  return {
    owner,
    found: wanted === "" ? undefined : `(${wanted})${unwanted}`,
    isExact: metadata.length === 0 || !(await hasUnlisted(reader, owner)),
    tests: [
      ...(name === "" ? [] : [sql<boolean>`instr(name_folded, ${name}) > 0`]),
      ...include.map((tag) => sql<boolean>`exists ${tagged([tag])}`),
      ...(exclude.length === 0 ? [] : [sql<boolean>`not exists ${tagged(exclude)}`]),
      ...metadata.map(toRowTest),
    ],
  };
}

export function anyTag(owner: number, tags: readonly string[]): string {
  return `(${tags.map((tag) => tagToken(owner, tag)).join(" OR ")})`;
}

function tagged(tags: readonly string[]): RawBuilder<unknown> {
  return sql`(select 1 from asset_tags where asset_seq = assets.seq and tag in (${sql.join(tags)}))`;
}

/** Whether the owner has assets with more metadata than the index keeps: very few, mostly none. */
async function hasUnlisted(reader: Reader, owner: number): Promise<boolean> {
  const one = sql`select rowid from asset_search where asset_search match ${unlistedToken(owner)} limit 1`;
  return (await reader.row(statement(one))) !== undefined;
}
