// Tags of an asset: a set with an order. Every change says what it changed.
// Inside a commit only.

import { ServiceError } from "../service-error";
import { type Database, query } from "../store/database";

export function addTags(database: Database, assetSeq: number, tags: readonly string[], at: number) {
  const before = tagsOf(database, assetSeq);
  const wanted = [...new Set(tags)];
  const added = wanted.filter((tag) => !before.includes(tag));
  const { maxTagsPerAsset: most = Infinity } = database.limits;
  if (before.length + added.length > most) {
    throw new ServiceError("INVALID_BODY", `tags: an asset has at most ${most} tags.`, { field: "tags" });
  }
  const last = database.row(
    query
      .selectFrom("asset_tags")
      .select(({ fn }) => fn.max("position").as("position"))
      .where("asset_seq", "=", assetSeq),
  );
  let position = Number(last?.position ?? 0);
  for (const tag of added) database.run(query.insertInto("asset_tags").values({ asset_seq: assetSeq, tag, position: ++position }));
  if (added.length > 0) touch(database, assetSeq, at);
  return {
    total_tags: [...before, ...added],
    added,
    already_present: wanted.filter((tag) => before.includes(tag)),
    removed: [],
    not_present: [],
  };
}

export function removeTags(database: Database, assetSeq: number, tags: readonly string[], at: number) {
  const before = tagsOf(database, assetSeq);
  const wanted = [...new Set(tags)];
  const removed = wanted.filter((tag) => before.includes(tag));
  if (removed.length > 0) {
    database.run(query.deleteFrom("asset_tags").where("asset_seq", "=", assetSeq).where("tag", "in", removed));
    touch(database, assetSeq, at);
  }
  return {
    total_tags: before.filter((tag) => !removed.includes(tag)),
    removed,
    not_present: wanted.filter((tag) => !before.includes(tag)),
    added: [],
    already_present: [],
  };
}

function tagsOf(database: Database, assetSeq: number): string[] {
  return database
    .rows(query.selectFrom("asset_tags").select("tag").where("asset_seq", "=", assetSeq).orderBy("position"))
    .map((row) => row.tag);
}

function touch(database: Database, assetSeq: number, at: number): void {
  database.run(query.updateTable("assets").set({ updated_at: at }).where("seq", "=", assetSeq));
}
