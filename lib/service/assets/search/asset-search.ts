// Parses the filter of an asset list and finds matching assets, with exact totals and ties sorted by id.

import { type RawBuilder, sql } from "kysely";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { isObject } from "@/lib/contract/json/json";
import { parseExactJson } from "@/lib/contract/json/parse-json";
import { type AssetsQuery } from "@/lib/contract/schemas/asset";
import { ServiceError } from "@/lib/service/service-error";
import { query, type Reader, toStatement } from "@/lib/service/store/database";
import { PUBLIC_OWNER } from "@/lib/service/users/keys";
import { foldName } from "@/lib/shared/text";

export type AssetPage = Pick<AssetsQuery, "sort" | "order" | "limit" | "offset">;

export type AssetSearch = {
  findPage(userId: number, filter: ParsedAssetFilter, includePublic: boolean, page: AssetPage): Promise<{ seqs: number[]; total: number }>;
  countTags(userId: number, filter: ParsedAssetFilter, includePublic: boolean): Promise<ReadonlyMap<string, number>>;
};

export const sortColumns = {
  name: { column: "name_folded", index: "assets_by_folded_name" },
  created_at: { column: "created_at", index: "assets_by_creation" },
  updated_at: { column: "updated_at", index: "assets_by_update" },
  size: { column: "size", index: "assets_by_size" },
  last_access_time: { column: "last_access_time", index: "assets_by_access" },
} as const;

export function getOwners(userId: number, includePublic: boolean): number[] {
  return includePublic ? [userId, PUBLIC_OWNER] : [userId];
}

export async function countOwnedAssets(reader: Reader, owner: number): Promise<number> {
  return (await reader.row(query.selectFrom("asset_counts").select("n").where("owner_id", "=", owner)))?.n ?? 0;
}

export function createConditions(
  { include, exclude, name, metadata }: ParsedAssetFilter,
  nameCondition: RawBuilder<unknown>,
  toMetadataCondition: (condition: MetadataCondition) => RawBuilder<unknown>,
): RawBuilder<unknown>[] {
  const toTagCondition = (tags: readonly string[]) =>
    sql`exists (select 1 from asset_tags where asset_seq = assets.seq and tag in (${sql.join(tags)}))`;
  return [
    ...(name === "" ? [] : [nameCondition]),
    ...include.map((tag) => toTagCondition([tag])),
    ...(exclude.length === 0 ? [] : [sql`not ${toTagCondition(exclude)}`]),
    ...metadata.map(toMetadataCondition),
  ];
}

export function createDocuments({ paths, values }: MetadataCondition, wrap = (value: unknown) => [value]): string[] {
  const createDocument = (path: readonly string[], value: unknown) =>
    path.reduceRight((innerJson, key) => `{${writeExactJson(key)}:${innerJson}}`, writeExactJson(value));
  return paths.flatMap((path) => values.flatMap((value) => wrap(value).map((item) => createDocument(path, item))));
}

// On PostgreSQL, the planner chooses the index (decision 64). One statement reads the page and its total, so that they are consistent.

export function createPostgresSearch(reader: Reader): AssetSearch {
  return {
    async findPage(userId, filter, includePublic, { sort, order, limit, offset }) {
      if (filter.isUnsatisfiable) return { seqs: [], total: 0 };
      const owners = getOwners(userId, includePublic);
      const conditions = createConditions(filter, createNameCondition(filter), createMetadataCondition);
      // One branch per owner. Each is already sorted, and PostgreSQL merges them only up to the end of the page.
      const column = sql.ref(sortColumns[sort].column);
      const branches = owners.map((owner) => sql`select id, ${column} as sort_value from ${selectAssets([owner], conditions)}`);
      const orderBy = sql`order by sort_value ${sql.raw(order)}, id ${sql.raw(order)}`;
      const page = sql`select id, sort_value from (${sql.join(branches, sql` union all `)}) as found ${orderBy} limit ${limit} offset ${offset}`;
      const seqs = sql`select json_agg(seq ${orderBy}) from (${page}) as page join assets using (id)`;
      const total =
        conditions.length === 0
          ? sql`select sum(n) from asset_counts where owner_id in (${sql.join(owners)})`
          : sql`select count(*) from ${selectAssets(owners, conditions)}`;
      const row = await reader.row(
        toStatement(sql<{ seqs: string | null; total: number | null }>`select (${seqs}) as seqs, (${total}) as total`),
      );
      const pageSeqs: number[] = JSON.parse(row?.seqs ?? "[]"); // json_agg of an integer column
      return { seqs: pageSeqs, total: row?.total ?? 0 };
    },

    async countTags(userId, filter, includePublic) {
      if (filter.isUnsatisfiable) return new Map();
      const owners = getOwners(userId, includePublic);
      const conditions = createConditions(filter, createNameCondition(filter), createMetadataCondition);
      const tagCounts =
        conditions.length === 0
          ? sql`sum(n) as n from tag_counts where owner_id in (${sql.join(owners)})`
          : sql`count(*) as n from asset_tags where asset_seq in (select seq from ${selectAssets(owners, conditions)})`;
      const rows = await reader.rows(toStatement(sql<{ tag: string; n: number }>`select tag, ${tagCounts} group by tag`));
      return new Map(rows.map(({ tag, n }) => [tag, n]));
    },
  };
}

function selectAssets(owners: readonly number[], conditions: readonly RawBuilder<unknown>[]): RawBuilder<unknown> {
  return sql`assets where ${sql.join([sql`owner_id in (${sql.join(owners)})`, ...conditions], sql` and `)}`;
}

const createNameCondition = ({ name }: ParsedAssetFilter) => sql`name_folded like ${`%${name.replace(/[\\%_]/g, "\\$&")}%`}`;

function createMetadataCondition(condition: MetadataCondition): RawBuilder<unknown> {
  const documents = createDocuments(condition, (value) => [value, [value]]);
  const conditions = documents.map((document) => sql`metadata_document(metadata) @> metadata_document(${document})`);
  return sql`(${sql.join(conditions, sql` or `)})`;
}

export type AssetFilter = Pick<AssetsQuery, "include_tags" | "exclude_tags" | "name_contains" | "metadata_filter" | "include_public">;

export type ParsedAssetFilter = {
  include: string[];
  exclude: string[];
  name: string;
  metadata: MetadataCondition[];
  isUnsatisfiable: boolean;
};

export function parseFilter(filter: AssetFilter): ParsedAssetFilter {
  const metadata = parseMetadataFilter(filter.metadata_filter);
  return {
    include: [...new Set(filter.include_tags ?? [])],
    exclude: [...new Set(filter.exclude_tags ?? [])],
    name: foldName(filter.name_contains ?? ""),
    metadata,
    isUnsatisfiable: metadata.some((condition) => condition.values.length === 0),
  };
}

// metadata_filter: conditions on nested paths, all of which must match. `{ "a": { "b": 1 } }` and `{ "a.b": 1 }` are the same path.

const MAX_CONDITIONS = 50;

export type Scalar = string | number | bigint | boolean | null;

export type MetadataCondition = { paths: string[][]; values: Scalar[] };

function parseMetadataFilter(text: string | undefined): MetadataCondition[] {
  if (text === undefined || text.trim() === "") return [];
  let filter: unknown;
  try {
    filter = parseExactJson(text);
  } catch {
    throw createInvalidFilterError("must be the JSON text of an object");
  }
  if (!isObject(filter)) throw createInvalidFilterError("must be the JSON text of an object");
  const conditions = flattenFilter(filter, []);
  if (conditions.length > MAX_CONDITIONS) throw createInvalidFilterError(`contains more than ${MAX_CONDITIONS} conditions`);
  return conditions;
}

function flattenFilter(filter: Record<string, unknown>, path: readonly string[]): MetadataCondition[] {
  return Object.entries(filter).flatMap(([key, value]) => {
    const innerPath = [...path, key];
    if (isObject(value)) return flattenFilter(value, innerPath);
    if (innerPath.some((value) => /["\\\0]/.test(value)))
      throw createInvalidFilterError("keys must not contain quotes, backslashes or NUL characters");
    const segments = innerPath.flatMap((value) => value.split("."));
    // The path as written, or split at its dots.
    const paths = segments.length === innerPath.length ? [innerPath] : [innerPath, segments];
    return [{ paths, values: (Array.isArray(value) ? value : [value]).map(requireScalar) }];
  });
}

function requireScalar(value: unknown): Scalar {
  const scalar = toScalar(value);
  if (scalar !== undefined) return scalar;
  throw createInvalidFilterError("values must be strings, numbers, booleans, null or lists of these");
}

/** Returns undefined for lists and objects. Integers too large for a double become a bigint. */
function toScalar(value: unknown): Scalar | undefined {
  if (typeof value === "number") return /^-?\d{16,}$/.test(String(value)) && !Number.isSafeInteger(value) ? BigInt(String(value)) : value;
  return value === null || typeof value === "string" || typeof value === "bigint" || typeof value === "boolean" ? value : undefined;
}

function createInvalidFilterError(message: string): ServiceError {
  return new ServiceError("INVALID_QUERY", `metadata_filter: ${message}.`, [{ field: "metadata_filter", message }]);
}
