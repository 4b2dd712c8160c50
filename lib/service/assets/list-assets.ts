// The list of assets: own ones, and public ones where asked for; every filter composes with every other.
// Each owner's rows come in index order and are merged, so a page costs what it returns; ties are broken by id.

import { type ExpressionBuilder, sql } from "kysely";
import { type AssetsQuery } from "@/lib/contract/schemas/asset";
import { ServiceError } from "../service-error";
import { type Database, query } from "../store/database";
import { type Tables } from "../store/schema";
import { PUBLIC_OWNER } from "../users/user";
import { readAssets, type StoredAsset } from "./asset-row";
import { foldName } from "./insert-asset";
import { matchesMetadata } from "./metadata-filter";

export type AssetFilter = Pick<AssetsQuery, "include_tags" | "exclude_tags" | "name_contains" | "metadata_filter" | "include_public">;

export function listAssets(
  database: Database,
  userId: number,
  wanted: AssetsQuery,
): { assets: StoredAsset[]; total: number; has_more: boolean } {
  const keys = matching(userId, wanted)
    .map((owned) => owned.select(["assets.seq", "assets.id", wanted.sort]))
    .reduce((all, owned) => all.unionAll(owned));
  const page = database.rows(
    keys.orderBy(sql.ref(wanted.sort), wanted.order).orderBy("id", wanted.order).limit(wanted.limit).offset(wanted.offset),
  );
  const assets = readAssets(
    database,
    page.map((row) => row.seq),
  );
  const total = count(database, userId, wanted);
  return { assets, total, has_more: wanted.offset + assets.length < total };
}

/** One query per owner, so that each can follow its own index. */
export function matching(userId: number, filter: AssetFilter) {
  const owners = filter.include_public ? [userId, PUBLIC_OWNER] : [userId];
  const include = [...new Set(filter.include_tags ?? [])];
  const exclude = [...new Set(filter.exclude_tags ?? [])];
  const metadata = readFilter(filter.metadata_filter);
  return owners.map((owner) => {
    let owned = query.selectFrom("assets").where("owner_id", "=", owner);
    for (const tag of include) owned = owned.where((builder) => builder.exists(tagged(builder, [tag])));
    if (exclude.length > 0) owned = owned.where((builder) => builder.not(builder.exists(tagged(builder, exclude))));
    if (filter.name_contains) owned = owned.where(sql<boolean>`instr(name_folded, ${foldName(filter.name_contains)}) > 0`);
    if (metadata) owned = owned.where(matchesMetadata(metadata));
    return owned;
  });
}

function tagged(builder: ExpressionBuilder<Tables, "assets">, tags: readonly string[]) {
  return builder.selectFrom("asset_tags").select("position").whereRef("asset_seq", "=", "assets.seq").where("tag", "in", tags);
}

function count(database: Database, userId: number, filter: AssetFilter): number {
  const isPlain = !filter.include_tags?.length && !filter.exclude_tags?.length && !filter.name_contains && !filter.metadata_filter;
  if (isPlain) {
    const owners = filter.include_public ? [userId, PUBLIC_OWNER] : [userId];
    const kept = database.row(
      query
        .selectFrom("asset_counts")
        .select(({ fn }) => fn.sum<number>("n").as("n"))
        .where("owner_id", "in", owners),
    );
    return Number(kept?.n ?? 0);
  }
  return matching(userId, filter)
    .map((owned) => database.row(owned.select(({ fn }) => fn.countAll<number>().as("n")))?.n ?? 0)
    .reduce((sum, n) => sum + n, 0);
}

function readFilter(text: string | undefined): Record<string, unknown> | undefined {
  if (text === undefined || text.trim() === "") return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw badFilter();
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw badFilter();
  return { ...value };
}

function badFilter(): ServiceError {
  return new ServiceError("INVALID_QUERY", "metadata_filter: must be the JSON text of an object.", [
    { field: "metadata_filter", message: "must be the JSON text of an object" },
  ]);
}
