// Finds the assets that match a filter on SQLite: from memory for users who have many, else from the search index.

import { type ServiceLog } from "@/lib/service/options";
import { type SqliteDatabase } from "@/lib/service/store/sqlite";
import { type AssetSearch, ownersOf } from "../asset-search";
import { findPage } from "./find-page";
import { keepSearchIndex } from "./full-text";
import { createAssetMemory } from "./memory";
import { countTags } from "./tag-codes";

/** Call before anything else writes to the database: from then on every commit keeps the index up to date. */
export async function openSqliteSearch(database: SqliteDatabase, log: ServiceLog): Promise<AssetSearch> {
  await keepSearchIndex(database);
  const memory = createAssetMemory(database, log);
  return {
    findPage: async (userId, filter, includePublic, page) =>
      (await memory.list(userId, filter, includePublic, page)) ?? findPage(database, userId, filter, includePublic, page),
    countTags: async (userId, filter, includePublic) =>
      countTags(database, ownersOf(userId, includePublic), filter, await memory.tally(userId, filter, includePublic)),
    stop: () => memory.stop(),
  };
}
