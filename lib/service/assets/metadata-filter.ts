// What metadata_filter means: equality on nested paths, a list as any-of, numbers and booleans by their type; every condition must hold.
// `{ "a": { "b": 1 } }` and `{ "a.b": 1 }` name the same path. Where the metadata holds a list, one equal item is enough.
// Each condition is both a question to the search index and a test of one row, and the two mean the same.

import { type RawBuilder, sql } from "kysely";
import { parseExactJson } from "@/lib/contract/json/exact-json";
import { ServiceError } from "../service-error";
import { type Scalar, toScalar, unlistedToken, valueToken } from "./search/tokens";

const MOST_CONDITIONS = 50;

/** One of the values at one of the paths. */
export type MetadataCondition = { paths: string[][]; values: Scalar[] };

export function readMetadataFilter(text: string | undefined): MetadataCondition[] {
  if (text === undefined || text.trim() === "") return [];
  let filter: unknown;
  try {
    filter = parseExactJson(text);
  } catch {
    throw refused("must be the JSON text of an object");
  }
  if (!isRecord(filter)) throw refused("must be the JSON text of an object");
  const conditions = flatten(filter, []);
  if (conditions.length > MOST_CONDITIONS) throw refused(`holds more than ${MOST_CONDITIONS} conditions`);
  return conditions;
}

function flatten(filter: Record<string, unknown>, path: readonly string[]): MetadataCondition[] {
  return Object.entries(filter).flatMap(([key, value]) => {
    const inner = [...path, key];
    if (isRecord(value)) return flatten(value, inner);
    if (inner.some((one) => /["\\\0]/.test(one))) throw refused("keys hold no quotes, no backslashes and no NUL");
    const steps = inner.flatMap((one) => one.split("."));
    // The path as written, or with its dots taken as steps.
    const paths = steps.length === inner.length ? [inner] : [inner, steps];
    return [{ paths, values: (Array.isArray(value) ? value : [value]).map(readScalar) }];
  });
}

function readScalar(value: unknown): Scalar {
  const scalar = toScalar(value);
  if (scalar !== undefined) return scalar;
  throw refused("values are texts, numbers, booleans, null or lists of these");
}

/** For the search index: these assets, and those whose metadata it does not know in full. */
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

/** json_each gives a list item by item, and any other value as the one item that it is. */
function holds(path: string, value: Scalar): RawBuilder<boolean> {
  // SQLite refuses the whole query for one text that is no JSON: a damaged row holds nothing instead.
  const metadata = sql`iif(json_valid(assets.metadata), assets.metadata, '{}')`;
  const items = sql`select 1 from json_each(${metadata}, ${path}) as item where json_type(${metadata}, ${path}) <> 'object' and`;
  if (value === null) return sql<boolean>`exists (${items} item.type = 'null')`;
  if (typeof value === "boolean") return sql<boolean>`exists (${items} item.type = ${String(value)})`;
  // SQLite rounds a whole number of so many digits: what was written is compared.
  if (typeof value === "bigint")
    return sql<boolean>`exists (${items} item.type = 'integer' and ${metadata} -> item.fullkey = ${String(value)})`;
  const types = typeof value === "string" ? sql`('text')` : Number.isSafeInteger(value) ? sql`('integer', 'real')` : sql`('real')`;
  return sql<boolean>`exists (${items} item.type in ${types} and item.value = ${value})`;
}

/** A label in quotes may hold anything but a quote. */
function toPath(keys: readonly string[]): string {
  return `$${keys.map((key) => `."${key}"`).join("")}`;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function refused(message: string): ServiceError {
  return new ServiceError("INVALID_QUERY", `metadata_filter: ${message}.`, [{ field: "metadata_filter", message }]);
}
