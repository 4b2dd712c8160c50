// The filter of an asset list for one owner: what to ask the search index, and how to test one row.
// Guarantees: the tests alone decide what matches; `found` finds every asset that passes them, and if `isExact`, no other.

import { type RawBuilder, sql } from "kysely";
import { type ReadFilter } from "@/lib/service/assets/asset-filter";
import { type MetadataCondition, type Scalar } from "@/lib/service/assets/metadata-filter";
import { type Reader, statement } from "@/lib/service/store/database";
import { nameTerm, tagToken, unlistedToken, valueToken } from "./tokens";

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

/** One condition of a metadata filter for the search index: finds the matching assets, and those whose metadata it does not hold in full. */
function toSearchTerm(owner: number, { paths, values }: MetadataCondition): string {
  const tokens = paths.flatMap((path) => values.map((value) => valueToken(owner, path, value)));
  return `(${[...tokens, unlistedToken(owner)].join(" OR ")})`;
}

/** The same for one row; damaged metadata matches nothing. */
function toRowTest({ paths, values }: MetadataCondition): RawBuilder<boolean> {
  const tests = paths.flatMap((path) => values.map((value) => holds(toPath(path), value)));
  return tests.length === 0
    ? sql<boolean>`0`
    : sql<boolean>`case when json_valid(assets.metadata) then ${sql.join(tests, sql` or `)} else 0 end`;
}

/** json_each gives a list item by item, and any other value as a single item. */
function holds(path: string, value: Scalar): RawBuilder<boolean> {
  // SQLite refuses the whole query if one text is not JSON, so a damaged row counts as empty.
  const metadata = sql`iif(json_valid(assets.metadata), assets.metadata, '{}')`;
  const items = sql`select 1 from json_each(${metadata}, ${path}) as item where json_type(${metadata}, ${path}) <> 'object' and`;
  if (value === null) return sql<boolean>`exists (${items} item.type = 'null')`;
  if (typeof value === "boolean") return sql<boolean>`exists (${items} item.type = ${String(value)})`;
  // SQLite rounds whole numbers with this many digits, so the written text is compared.
  if (typeof value === "bigint")
    return sql<boolean>`exists (${items} item.type = 'integer' and ${metadata} -> item.fullkey = ${String(value)})`;
  const types = typeof value === "string" ? sql`('text')` : Number.isSafeInteger(value) ? sql`('integer', 'real')` : sql`('real')`;
  return sql<boolean>`exists (${items} item.type in ${types} and item.value = ${value})`;
}

/** A label in quotes may hold anything but a quote. */
function toPath(keys: readonly string[]): string {
  return `$${keys.map((key) => `."${key}"`).join("")}`;
}
