// Finds the assets that match a filter on PostgreSQL: from the tables, along the index that the planner considers shortest (decision 64).
// Guarantees: a page and its total are of the same moment.

import { type RawBuilder, sql } from "kysely";
import { type Reader, statement } from "@/lib/service/store/database";
import { type ReadFilter } from "../asset-filter";
import { type MetadataCondition } from "../metadata-filter";
import { type AssetSearch, documentsOf, orders, ownersOf, testsOf } from "./asset-search";

export function createPostgresSearch(reader: Reader): AssetSearch {
  return {
    async findPage(userId, filter, includePublic, { sort, order, limit, offset }) {
      if (filter.isNever) return { seqs: [], total: 0 };
      const owners = ownersOf(userId, includePublic);
      const tests = testsOf(filter, hasName(filter), holds);
      // One branch per owner: each is already in order, and they are merged only as far as the page goes.
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
      const listed: number[] = JSON.parse(found?.seqs ?? "[]"); // json_agg of a column of whole numbers
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

/** The value itself at the end of the path, or a list there that contains the value. */
function holds(condition: MetadataCondition): RawBuilder<unknown> {
  const documents = documentsOf(condition, (value) => [value, [value]]);
  const tests = documents.map((document) => sql`metadata_document(metadata) @> metadata_document(${document})`);
  return sql`(${sql.join(tests, sql` or `)})`;
}
