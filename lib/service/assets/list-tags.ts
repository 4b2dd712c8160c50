// Tags with how many assets carry them: over everything visible, or over the assets that a filter leaves.

import { sql } from "kysely";
import { type z } from "zod";
import { type tagsQuerySchema } from "@/lib/contract/schemas/tags";
import { type Database, query } from "../store/database";
import { PUBLIC_OWNER } from "../users/user";
import { type AssetFilter, matching } from "./list-assets";

type TagsQuery = z.output<typeof tagsQuerySchema>;

export function listTags(database: Database, userId: number, wanted: TagsQuery) {
  const owners = wanted.include_public ? [userId, PUBLIC_OWNER] : [userId];
  let counts = query
    .selectFrom("asset_tags")
    .innerJoin("assets", "assets.seq", "asset_tags.asset_seq")
    .select(({ fn }) => ["tag as name", fn.countAll<number>().as("count")])
    .where("owner_id", "in", owners)
    .groupBy("tag");
  if (wanted.prefix) counts = counts.where(sql<boolean>`substr(tag, 1, ${wanted.prefix.length}) = ${wanted.prefix}`);
  const tags = database.rows(wanted.order === "name_asc" ? counts.orderBy("tag") : counts.orderBy("count", "desc").orderBy("tag"));
  const page = tags.slice(wanted.offset, wanted.offset + wanted.limit);
  return { tags: page, total: tags.length, has_more: wanted.offset + page.length < tags.length };
}

export function refineTags(database: Database, userId: number, filter: AssetFilter & { limit: number }): Record<string, number> {
  const seqs = matching(userId, filter)
    .map((owned) => owned.select("assets.seq"))
    .reduce((all, owned) => all.unionAll(owned));
  const counts = query
    .selectFrom("asset_tags")
    .select(({ fn }) => ["tag", fn.countAll<number>().as("n")])
    .where("asset_seq", "in", seqs)
    .groupBy("tag")
    .orderBy("n", "desc")
    .orderBy("tag")
    .limit(filter.limit);
  return Object.fromEntries(database.rows(counts).map((row) => [row.tag, row.n]));
}
