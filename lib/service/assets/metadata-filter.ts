// metadata_filter as SQL: equality on nested paths, a list as any-of, numbers and booleans by their type.
// `{ "a": { "b": 1 } }` and `{ "a.b": 1 }` mean the same path; every condition must hold.

import { type RawBuilder, sql } from "kysely";
import { ServiceError } from "../service-error";

const MOST_CONDITIONS = 50;

export function matchesMetadata(filter: Record<string, unknown>): RawBuilder<boolean> {
  const conditions = flatten(filter, []);
  if (conditions.length > MOST_CONDITIONS)
    throw new ServiceError("INVALID_QUERY", `metadata_filter: holds more than ${MOST_CONDITIONS} conditions.`);
  if (conditions.length === 0) return sql<boolean>`1`;
  return sql<boolean>`(${sql.join(conditions.map(toCondition), sql` AND `)})`;
}

type Condition = { path: string[]; value: unknown };

function flatten(filter: Record<string, unknown>, path: string[]): Condition[] {
  return Object.entries(filter).flatMap(([key, value]) => {
    const inner = [...path, key];
    return isRecord(value) ? flatten(value, inner) : [{ path: inner, value }];
  });
}

function toCondition({ path, value }: Condition): RawBuilder<boolean> {
  if (!Array.isArray(value)) return equals(path, value);
  if (value.length === 0) return sql<boolean>`0`;
  return sql<boolean>`(${sql.join(
    value.map((one) => equals(path, one)),
    sql` OR `,
  )})`;
}

function equals(path: string[], value: unknown): RawBuilder<boolean> {
  // The path as written, or with its dots taken as steps; a label in quotes may hold anything but a quote.
  const paths = [...new Set([toPath(path), toPath(path.flatMap((key) => key.split(".")))])];
  return sql<boolean>`(${sql.join(
    paths.map((at) => equalsAt(at, value)),
    sql` OR `,
  )})`;
}

function equalsAt(path: string, value: unknown): RawBuilder<boolean> {
  const type = sql`json_type(metadata, ${path})`;
  if (value === null) return sql<boolean>`${type} IS 'null'`;
  if (typeof value === "boolean") return sql<boolean>`${type} IS ${String(value)}`;
  if (typeof value === "number") return sql<boolean>`(${type} IN ('integer', 'real') AND json_extract(metadata, ${path}) = ${value})`;
  if (typeof value === "string") return sql<boolean>`(${type} IS 'text' AND json_extract(metadata, ${path}) = ${value})`;
  throw new ServiceError("INVALID_QUERY", "metadata_filter: values are texts, numbers, booleans, null or lists of these.");
}

function toPath(keys: string[]): string {
  if (keys.some((key) => key.includes('"') || key.includes("\\") || key.includes("\0")))
    throw new ServiceError("INVALID_QUERY", "metadata_filter: keys hold no quotes, no backslashes and no NUL.");
  return `$${keys.map((key) => `."${key}"`).join("")}`;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
