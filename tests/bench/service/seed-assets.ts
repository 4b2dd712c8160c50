// Seeds a million assets of one user with three to five tags, two-word names and some metadata. Fills the search index at the end, like
// the migration.
import { assetSearchTriggers, fillAssetSearchSql } from "@/lib/service/store/asset-index";
import { foldName } from "@/lib/shared/text";
import { assertSameRows, fillDatabase, prepareInsert } from "./fill-database";
import { createSeededRandom } from "./seeded-random";

export const WORDS = ["portrait", "landscape", "product", "sunset", "mountain", "city", "forest", "studio", "winter", "garden"] as const;
export const KINDS = Array.from({ length: 10 }, (_, index) => `kind-${index}`);
export const PLACES = Array.from({ length: 10 }, (_, index) => `place-${index}`);
/** Three of four assets have the first tag, four of five the second, and three of five both. */
export const COMMON_TAGS = ["approved", "batch"] as const;
const LABELS = Array.from({ length: 1000 }, (_, index) => `label-${index}`);
const START_MS = Date.parse("2026-06-01T00:00:00Z");

export function seedAssets(file: string, userName: string, count: number): void {
  const random = createSeededRandom(1121);
  fillDatabase(file, userName, "assets_by_[^h]*", (database, userId) => {
    const triggers = [
      "assets_searched_in",
      "assets_searched_out",
      "assets_renamed",
      "assets_described",
      "tags_searched_in",
      "tags_searched_out",
    ];
    for (const name of triggers) database.exec(`DROP TRIGGER ${name}`);
    database.exec("INSERT INTO asset_search (asset_search) VALUES ('delete-all'); DELETE FROM asset_search_values;");
    const insertBlob = prepareInsert(database, "blobs", ["hash", "sha256", "size", "media_type", "created_at"]);
    const insertTag = prepareInsert(database, "asset_tags", ["asset_seq", "tag", "position"]);
    const insertAsset = prepareInsert(database, "assets", [
      ...["id", "owner_id", "origin", "hash", "name", "name_folded", "size", "mime_type", "metadata"],
      ...["created_at", "updated_at", "last_access_time"],
    ]);
    let at = START_MS;
    for (let index = 0; index < count; index += 1) {
      at += random.below(8) === 0 ? 0 : random.below(20_000);
      const [hash, size] = [random.hex(8), 1000 + random.below(1000) * 5000];
      insertBlob({ hash, sha256: hash, size, media_type: "image/png", created_at: at });
      const name = `${random.pick(WORDS)} ${random.pick(WORDS)} ${String(index).padStart(7, "0")}.png`;
      const edge = 256 * (1 + random.below(8));
      const asset_seq = insertAsset({
        ...{ id: random.uuid(), owner_id: userId, origin: "upload", hash, name, name_folded: foldName(name), size, mime_type: "image/png" },
        ...{ metadata: JSON.stringify({ width: edge, height: edge, node_id: String(random.below(30)) }) },
        ...{ created_at: at, updated_at: at, last_access_time: at + random.below(1e9) },
      });
      const commonTags = [index % 4 < 3 && COMMON_TAGS[0], index % 5 < 4 && COMMON_TAGS[1]].filter((tag) => tag !== false);
      [random.pick(KINDS), random.pick(PLACES), random.pick(LABELS), ...commonTags].forEach((tag, index) =>
        insertTag({ asset_seq, tag, position: index + 1 }),
      );
    }
    const countQuery = "SELECT owner_id, tag, count(*) FROM asset_tags JOIN assets ON assets.seq = asset_seq GROUP BY 1, 2";
    assertSameRows(database, "SELECT owner_id, tag, n FROM tag_counts WHERE n > 0", countQuery);
    database.exec(`${fillAssetSearchSql} ${assetSearchTriggers}`);
    assertSameRows(database, "SELECT owner_id, n FROM asset_counts WHERE n > 0", "SELECT owner_id, count(*) FROM assets GROUP BY 1");
  });
}
