// Tags of an asset: a set with an order. Every change returns what it changed.
// Only inside a commit.

import { ServiceError } from "../service-error";
import { query, type Transaction } from "../store/database";

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
