// Finds the asset of an upload, whose answer names a file and not an asset.
// Guarantees: never throws; undefined unless the list identifies it with certainty.

import { callApi } from "@/lib/browser/api";
import { withQuery } from "@/lib/browser/urls";
import { type AssetsAnswer } from "@/lib/contract/schemas/asset";
import { toAssetView } from "@/lib/contract/views/asset-view";
import { type SavedMask } from "./save-mask";

export async function findAsset({ name, display_name: shown }: SavedMask, connection?: string): Promise<string | undefined> {
  const stem = name.replace(/\.[A-Za-z0-9]{1,12}$/, "");
  const query = { name_contains: shown ?? name, include_public: false, limit: 50, connection };
  const found = await callApi<AssetsAnswer>(withQuery("/api/assets", query), { cache: "no-store" });
  if (!found.ok) return undefined;
  const assets = found.value.assets.map(toAssetView);
  const byHash = assets.find(({ hash }) => hash?.replace(/^\w+:/, "").replace(/\.\w+$/, "") === stem);
  return (byHash ?? assets.find((asset) => asset.name === name))?.id;
}
