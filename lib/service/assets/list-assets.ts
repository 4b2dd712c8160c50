// Lists assets: own ones, and public ones on request. Every filter can be combined with every other, in every order.

import { type AssetsQuery } from "@/lib/contract/schemas/asset";
import { type Database } from "../store/database";
import { readFilter } from "./asset-filter";
import { readAssets, type StoredAsset } from "./asset-row";
import { type AssetSearch } from "./search/asset-search";

type Listed = { assets: StoredAsset[]; total: number; has_more: boolean };

export async function listAssets(
  { database, assetSearch }: { database: Database; assetSearch: AssetSearch },
  userId: number,
  wanted: AssetsQuery,
): Promise<Listed> {
  const { seqs, total } = await assetSearch.findPage(userId, readFilter(wanted), wanted.include_public, wanted);
  return { assets: await readAssets(database, seqs), total, has_more: wanted.offset + seqs.length < total && seqs.length > 0 };
}
