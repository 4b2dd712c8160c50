// Finds the assets that match a filter, for lists of assets and of their tags. Each database does it in its own way.
// Guarantees: the same answers on both. Totals are exact, ties are broken by id in the direction of the order, names are sorted without
// case (by folded name).

import { type RawBuilder, sql } from "kysely";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { type AssetsQuery } from "@/lib/contract/schemas/asset";
import { query, type Reader } from "@/lib/service/store/database";
import { PUBLIC_OWNER } from "@/lib/service/users/keys";
import { type ReadFilter } from "../asset-filter";
import { type MetadataCondition } from "../metadata-filter";

export type AssetPage = Pick<AssetsQuery, "sort" | "order" | "limit" | "offset">;

export type AssetSearch = {
  /** The row numbers on the page, in its order, and how many assets match the filter. */
  findPage(userId: number, filter: ReadFilter, includePublic: boolean, page: AssetPage): Promise<{ seqs: number[]; total: number }>;
  /** How many of the matching assets carry each tag. */
  countTags(userId: number, filter: ReadFilter, includePublic: boolean): Promise<ReadonlyMap<string, number>>;
};

export const orders = {
  name: { column: "name_folded", index: "assets_by_folded_name" },
  created_at: { column: "created_at", index: "assets_by_creation" },
  updated_at: { column: "updated_at", index: "assets_by_update" },
  size: { column: "size", index: "assets_by_size" },
  last_access_time: { column: "last_access_time", index: "assets_by_access" },
} as const;

export function ownersOf(userId: number, includePublic: boolean): number[] {
  return includePublic ? [userId, PUBLIC_OWNER] : [userId];
}

export async function countOwned(reader: Reader, owner: number): Promise<number> {
  return (await reader.row(query.selectFrom("asset_counts").select("n").where("owner_id", "=", owner)))?.n ?? 0;
}

/** Conditions on a row of `assets`. A match meets all of them. */
export function testsOf(
  { include, exclude, name, metadata }: ReadFilter,
  hasName: RawBuilder<unknown>,
  holdsMetadata: (condition: MetadataCondition) => RawBuilder<unknown>,
): RawBuilder<unknown>[] {
  const tagged = (tags: readonly string[]) =>
    sql`exists (select 1 from asset_tags where asset_seq = assets.seq and tag in (${sql.join(tags)}))`;
  return [
    ...(name === "" ? [] : [hasName]),
    ...include.map((tag) => tagged([tag])),
    ...(exclude.length === 0 ? [] : [sql`not ${tagged(exclude)}`]),
    ...metadata.map(holdsMetadata),
  ];
}

/** JSON documents with one of the values at one of the paths. */
export function documentsOf({ paths, values }: MetadataCondition, wrap = (value: unknown) => [value]): string[] {
  const documentOf = (path: readonly string[], value: unknown) =>
    path.reduceRight((inner, key) => `{${writeExactJson(key)}:${inner}}`, writeExactJson(value));
  return paths.flatMap((path) => values.flatMap((value) => wrap(value).map((one) => documentOf(path, one))));
}
