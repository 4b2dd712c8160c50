// Tags with the number of assets that carry them: from kept counters for everything visible, or counted over the assets that match a
// filter.

import { sql } from "kysely";
import { type z } from "zod";
import { type tagsQuerySchema } from "@/lib/contract/schemas/asset";
import { query, type Reader } from "../store/database";
import { type AssetFilter, readFilter } from "./asset-filter";
import { type AssetSearch, ownersOf } from "./search/asset-search";

type TagsQuery = z.output<typeof tagsQuerySchema>;

export async function listTags(reader: Reader, userId: number, wanted: TagsQuery) {
  let counts = query
    .selectFrom("tag_counts")
    .select(({ fn }) => ["tag as name", fn.sum<number>("n").as("count")])
    .where("owner_id", "in", ownersOf(userId, wanted.include_public))
    .groupBy("tag");
  if (wanted.prefix) counts = counts.where(sql<boolean>`substr(tag, 1, length(${wanted.prefix})) = ${wanted.prefix}`);
  // A tag that no asset carries any more keeps its row, with 0.
  if (!wanted.include_zero) counts = counts.where("n", ">", 0);
  const total = (await reader.row(query.selectFrom(counts.as("tags")).select(({ fn }) => fn.countAll<number>().as("n"))))?.n ?? 0;
  const ordered = wanted.order === "name_asc" ? counts.orderBy("tag") : counts.orderBy("count", "desc").orderBy("tag");
  const tags = await reader.rows(ordered.limit(wanted.limit).offset(wanted.offset));
  return { tags, total, has_more: wanted.offset + tags.length < total };
}

export async function refineTags(
  { assetSearch }: { assetSearch: AssetSearch },
  userId: number,
  wanted: AssetFilter & { limit: number },
): Promise<Record<string, number>> {
  const counts = await assetSearch.countTags(userId, readFilter(wanted), wanted.include_public);
  const ranked = [...counts].filter(([, n]) => n > 0).sort(([tag, n], [other, m]) => m - n || (tag < other ? -1 : 1));
  return Object.fromEntries(ranked.slice(0, wanted.limit));
}
