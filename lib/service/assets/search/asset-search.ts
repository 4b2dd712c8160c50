// Finds assets by filter, with exact totals, and with ties sorted by id.

import { type RawBuilder, sql } from "kysely";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { type AssetsQuery } from "@/lib/contract/schemas/asset";
import { query, type Reader, statement } from "@/lib/service/store/database";
import { PUBLIC_OWNER } from "@/lib/service/users/keys";
import { type MetadataCondition, type ReadFilter } from "../asset-filter";

export type AssetPage = Pick<AssetsQuery, "sort" | "order" | "limit" | "offset">;

export type AssetSearch = {
  findPage(userId: number, filter: ReadFilter, includePublic: boolean, page: AssetPage): Promise<{ seqs: number[]; total: number }>;
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

export function documentsOf({ paths, values }: MetadataCondition, wrap = (value: unknown) => [value]): string[] {
  const documentOf = (path: readonly string[], value: unknown) =>
    path.reduceRight((inner, key) => `{${writeExactJson(key)}:${inner}}`, writeExactJson(value));
  return paths.flatMap((path) => values.flatMap((value) => wrap(value).map((one) => documentOf(path, one))));
}

// On PostgreSQL, the planner chooses the index (decision 64). One statement reads the page and its total, so that they are consistent.

export function createPostgresSearch(reader: Reader): AssetSearch {
  return {
    async findPage(userId, filter, includePublic, { sort, order, limit, offset }) {
      if (filter.isNever) return { seqs: [], total: 0 };
      const owners = ownersOf(userId, includePublic);
      const tests = testsOf(filter, hasName(filter), holds);
      // One branch per owner: each is already sorted, and PostgreSQL merges them only up to the end of the page.
      const column = sql.ref(orders[sort].column);
      const branches = owners.map((owner) => sql`select id, ${column} as place from ${assetsOf([owner], tests)}`);
      const placed = sql`order by place ${sql.raw(order)}, id ${sql.raw(order)}`;
      const page = sql`select id, place from (${sql.join(branches, sql` union all `)}) as found ${placed} limit ${limit} offset ${offset}`;
      const seqs = sql`select json_agg(seq ${placed}) from (${page}) as page join assets using (id)`;
      const total =
        tests.length === 0
          ? sql`select sum(n) from asset_counts where owner_id in (${sql.join(owners)})`
          : sql`select count(*) from ${assetsOf(owners, tests)}`;
      const found = await reader.row(
        statement(sql<{ seqs: string | null; total: number | null }>`select (${seqs}) as seqs, (${total}) as total`),
      );
      const listed: number[] = JSON.parse(found?.seqs ?? "[]"); // json_agg of an integer column
      return { seqs: listed, total: found?.total ?? 0 };
    },

    async countTags(userId, filter, includePublic) {
      if (filter.isNever) return new Map();
      const owners = ownersOf(userId, includePublic);
      const tests = testsOf(filter, hasName(filter), holds);
      const counted =
        tests.length === 0
          ? sql`sum(n) as n from tag_counts where owner_id in (${sql.join(owners)})`
          : sql`count(*) as n from asset_tags where asset_seq in (select seq from ${assetsOf(owners, tests)})`;
      const rows = await reader.rows(statement(sql<{ tag: string; n: number }>`select tag, ${counted} group by tag`));
      return new Map(rows.map(({ tag, n }) => [tag, n]));
    },
  };
}

function assetsOf(owners: readonly number[], tests: readonly RawBuilder<unknown>[]): RawBuilder<unknown> {
  return sql`assets where ${sql.join([sql`owner_id in (${sql.join(owners)})`, ...tests], sql` and `)}`;
}

const hasName = ({ name }: ReadFilter) => sql`name_folded like ${`%${name.replace(/[\\%_]/g, "\\$&")}%`}`;

function holds(condition: MetadataCondition): RawBuilder<unknown> {
  const documents = documentsOf(condition, (value) => [value, [value]]);
  const tests = documents.map((document) => sql`metadata_document(metadata) @> metadata_document(${document})`);
  return sql`(${sql.join(tests, sql` or `)})`;
}
