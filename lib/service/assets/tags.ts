import { sql } from "kysely";
import { type z } from "zod";
import { type tagsQuerySchema } from "@/lib/contract/schemas/asset";
import { ServiceError } from "../service-error";
import { query, type Reader, type Transaction } from "../store/database";
import { type AssetFilter, type AssetSearch, ownersOf, readFilter } from "./search/asset-search";

export async function addTags(tx: Transaction, assetSeq: number, tags: readonly string[], at: number) {
  const before = await tagsOf(tx, assetSeq);
  const wanted = [...new Set(tags)];
  const added = wanted.filter((tag) => !before.includes(tag));
  const { maxTagsPerAsset: most = Infinity } = tx.limits;
  if (before.length + added.length > most) {
    throw new ServiceError("INVALID_BODY", `tags: an asset has at most ${most} tags.`, { field: "tags" });
  }
  if (added.length > 0) {
    const last = await tx.row(
      query
        .selectFrom("asset_tags")
        .select(({ fn }) => fn.max("position").as("position"))
        .where("asset_seq", "=", assetSeq),
    );
    const from = Number(last?.position ?? 0) + 1;
    const rows = added.map((tag, index) => ({ asset_seq: assetSeq, tag, position: from + index }));
    await tx.run(query.insertInto("asset_tags").values(rows));
    await touch(tx, assetSeq, at);
  }
  return {
    total_tags: [...before, ...added],
    added,
    already_present: wanted.filter((tag) => before.includes(tag)),
    removed: [],
    not_present: [],
  };
}

export async function removeTags(tx: Transaction, assetSeq: number, tags: readonly string[], at: number) {
  const before = await tagsOf(tx, assetSeq);
  const wanted = [...new Set(tags)];
  const removed = wanted.filter((tag) => before.includes(tag));
  if (removed.length > 0) {
    await tx.run(query.deleteFrom("asset_tags").where("asset_seq", "=", assetSeq).where("tag", "in", removed));
    await touch(tx, assetSeq, at);
  }
  return {
    total_tags: before.filter((tag) => !removed.includes(tag)),
    removed,
    not_present: wanted.filter((tag) => !before.includes(tag)),
    added: [],
    already_present: [],
  };
}

async function tagsOf(tx: Transaction, assetSeq: number): Promise<string[]> {
  const rows = await tx.rows(query.selectFrom("asset_tags").select("tag").where("asset_seq", "=", assetSeq).orderBy("position"));
  return rows.map((row) => row.tag);
}

async function touch(tx: Transaction, assetSeq: number, at: number): Promise<void> {
  await tx.run(query.updateTable("assets").set({ updated_at: at }).where("seq", "=", assetSeq));
}

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
