import { type AssetView } from "@/lib/contract/views/asset-view";

/** Names that do not tell which one it is: jobs of one workflow call their outputs alike. */
export function sharedNames(assets: readonly Pick<AssetView, "name">[]): ReadonlySet<string> {
  const seen = new Set<string>();
  const shared = new Set<string>();
  for (const { name } of assets) {
    if (seen.has(name)) shared.add(name);
    seen.add(name);
  }
  return shared;
}
