// Finds the assets that match a filter on SQLite, through a full-text index.

import { type SqliteDatabase } from "@/lib/service/store/sqlite";
import { type AssetSearch, ownersOf } from "../asset-search";
import { findPage } from "./find-page";
import { keepSearchIndex } from "./full-text";
import { countTags } from "./tag-codes";

/** Call before anything else writes to the database: from then on every commit keeps the index up to date. */
export async function openSqliteSearch(database: SqliteDatabase): Promise<AssetSearch> {
  await keepSearchIndex(database);
  return {
    findPage: (userId, filter, includePublic, page) => findPage(database, userId, filter, includePublic, page),
    countTags: (userId, filter, includePublic) => countTags(database, ownersOf(userId, includePublic), filter),
  };
}
