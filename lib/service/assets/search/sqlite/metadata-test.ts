// One condition of a metadata filter, as a question to the search index and as a test of one row. The two mean the same.

import { type RawBuilder, sql } from "kysely";
import { type MetadataCondition, type Scalar } from "@/lib/service/assets/metadata-filter";
import { unlistedToken, valueToken } from "./tokens";

/** For the search index: finds the matching assets, and those whose metadata it does not hold in full. */
export function toSearchTerm(owner: number, { paths, values }: MetadataCondition): string {
  const tokens = paths.flatMap((path) => values.map((value) => valueToken(owner, path, value)));
  return `(${[...tokens, unlistedToken(owner)].join(" OR ")})`;
}

/** For one row; damaged metadata matches nothing. */
export function toRowTest({ paths, values }: MetadataCondition): RawBuilder<boolean> {
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
