import { type AssetsAnswer } from "@/lib/contract/schemas/asset";
import { type AssetView, toAssetView } from "@/lib/contract/views/asset-view";

export type AssetPage = { assets: AssetView[]; total?: number; hasMore?: boolean; unreadable?: number };

export function toAssetPage({ assets, total, has_more, unreadable }: AssetsAnswer): AssetPage {
  return {
    assets: assets.map(toAssetView),
    ...(total !== undefined && { total }),
    ...(has_more !== undefined && { hasMore: has_more }),
    ...(unreadable !== undefined && { unreadable }),
  };
}
