import { isObject } from "@/lib/contract/json/json";
import { parseExactJson } from "@/lib/contract/json/parse-json";
import { type AssetsQuery } from "@/lib/contract/schemas/asset";
import { foldName } from "@/lib/shared/text";
import { ServiceError } from "../service-error";

export type AssetFilter = Pick<AssetsQuery, "include_tags" | "exclude_tags" | "name_contains" | "metadata_filter" | "include_public">;

export type ReadFilter = { include: string[]; exclude: string[]; name: string; metadata: MetadataCondition[]; isNever: boolean };

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

// metadata_filter: conditions on nested paths, all of which must match. `{ "a": { "b": 1 } }` and `{ "a.b": 1 }` are the same path.

const MAX_CONDITIONS = 50;

export type Scalar = string | number | bigint | boolean | null;

export type MetadataCondition = { paths: string[][]; values: Scalar[] };

function readMetadataFilter(text: string | undefined): MetadataCondition[] {
  if (text === undefined || text.trim() === "") return [];
  let filter: unknown;
  try {
    filter = parseExactJson(text);
  } catch {
    throw invalidFilter("must be the JSON text of an object");
  }
  if (!isObject(filter)) throw invalidFilter("must be the JSON text of an object");
  const conditions = flatten(filter, []);
  if (conditions.length > MAX_CONDITIONS) throw invalidFilter(`holds more than ${MAX_CONDITIONS} conditions`);
  return conditions;
}

function flatten(filter: Record<string, unknown>, path: readonly string[]): MetadataCondition[] {
  return Object.entries(filter).flatMap(([key, value]) => {
    const inner = [...path, key];
    if (isObject(value)) return flatten(value, inner);
    if (inner.some((one) => /["\\\0]/.test(one))) throw invalidFilter("keys hold no quotes, no backslashes and no NUL");
    const steps = inner.flatMap((one) => one.split("."));
    // The path as written, or split at its dots.
    const paths = steps.length === inner.length ? [inner] : [inner, steps];
    return [{ paths, values: (Array.isArray(value) ? value : [value]).map(readScalar) }];
  });
}

function readScalar(value: unknown): Scalar {
  const scalar = toScalar(value);
  if (scalar !== undefined) return scalar;
  throw invalidFilter("values are texts, numbers, booleans, null or lists of these");
}

/** Returns undefined for lists and objects. Integers too large for a double become a bigint. */
function toScalar(value: unknown): Scalar | undefined {
  if (typeof value === "number") return /^-?\d{16,}$/.test(String(value)) && !Number.isSafeInteger(value) ? BigInt(String(value)) : value;
  return value === null || typeof value === "string" || typeof value === "bigint" || typeof value === "boolean" ? value : undefined;
}

function invalidFilter(message: string): ServiceError {
  return new ServiceError("INVALID_QUERY", `metadata_filter: ${message}.`, [{ field: "metadata_filter", message }]);
}
