import { type AssetView, toAssetView } from "@/lib/contract/asset-view";
import { type AssetsAnswer } from "@/lib/contract/schemas/asset";

export type AssetPage = { assets: AssetView[]; total?: number; hasMore?: boolean };

export function toAssetPage({ assets, total, has_more }: AssetsAnswer): AssetPage {
  return {
    assets: assets.map(toAssetView),
    ...(total !== undefined && { total }),
    ...(has_more !== undefined && { hasMore: has_more }),
  };
}

/** While somebody looks further down, pictures keep their places and are brought up to date; new ones wait behind "3 new". */
export function holdBack(shown: readonly AssetView[], latest: readonly AssetView[]): { assets: AssetView[]; waiting: number } {
  const latestById = new Map(latest.map((asset) => [asset.id, asset]));
  const known = new Set(shown.map(({ id }) => id));
  return {
    assets: shown.map((asset) => latestById.get(asset.id) ?? asset),
    waiting: latest.filter(({ id }) => !known.has(id)).length,
  };
}
