// The filter of a list of assets, for one owner: what it asks of the search index, and how one row is tested.
// Guarantees: the tests alone say what matches; `found` holds every asset that passes them, and where `isExact`, no other.

import { type RawBuilder, sql } from "kysely";
import { type AssetsQuery } from "@/lib/contract/schemas/asset";
import { type Reader } from "../store/database";
import { statement } from "../store/statement";
import { foldName } from "@/lib/shared/fold-name";
import { type MetadataCondition, readMetadataFilter, toRowTest, toSearchTerm } from "./metadata-filter";
import { nameTerm, tagToken, unlistedToken } from "./search/tokens";

export type AssetFilter = Pick<AssetsQuery, "include_tags" | "exclude_tags" | "name_contains" | "metadata_filter" | "include_public">;

export type ReadFilter = { include: string[]; exclude: string[]; name: string; metadata: MetadataCondition[]; isNever: boolean };

export type OwnerFilter = {
  owner: number;
  /** For the search index; undefined where it cannot help. */
  found?: string;
  isExact: boolean;
  tests: RawBuilder<boolean>[];
};

export function readFilter(filter: AssetFilter): ReadFilter {
  const metadata = readMetadataFilter(filter.metadata_filter);
  return {
    include: [...new Set(filter.include_tags ?? [])],
    exclude: [...new Set(filter.exclude_tags ?? [])],
    name: foldName(filter.name_contains ?? ""),
    metadata,
    isNever: metadata.some((condition) => condition.values.length === 0),
  };
}

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

/** Assets with more metadata than the index keeps: very few, mostly none. */
async function hasUnlisted(reader: Reader, owner: number): Promise<boolean> {
  const one = sql`select rowid from asset_search where asset_search match ${unlistedToken(owner)} limit 1`;
  return (await reader.row(statement(one))) !== undefined;
}
