import { callPatiently, type Work } from "@/lib/browser/patient-call";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { type AssetView } from "@/lib/contract/asset-view";
import { type AssetsAnswer, type AssetsQuery } from "@/lib/contract/schemas/asset";
import { failed, ok, type Result } from "@/lib/shared/result";
import { toAssetPage } from "../asset-page";
import { assetsApiPath } from "../assets-address";
import { MOST_AT_ONCE } from "../read-assets";

/** What one press may set in motion. */
export const MOST_IN_ACT = 10_000;

/** All assets of a query, read before anything is done to them: an act changes which ones match. `isCut`: there are more. */
export async function walkAssets(query: AssetsQuery, work: Work): Promise<Result<{ assets: AssetView[]; isCut: boolean }, ApiFailure>> {
  const found = new Map<string, AssetView>();
  for (let offset = 0; !work.signal.aborted;) {
    const path = assetsApiPath({ ...query, limit: MOST_AT_ONCE, offset }, work.connection);
    const result = await callPatiently<AssetsAnswer>(path, { cache: "no-store" }, work);
    if (!result.ok) return failed(result.failure);
    const { assets, total, hasMore } = toAssetPage(result.value);
    const before = found.size;
    for (const asset of assets) found.set(asset.id, asset);
    work.onDone(found.size - before);
    offset += assets.length;
    const isOver = hasMore === undefined ? offset >= (total ?? Number.POSITIVE_INFINITY) : !hasMore;
    if (isOver || found.size === before) break;
    if (found.size >= MOST_IN_ACT) return ok({ assets: [...found.values()].slice(0, MOST_IN_ACT), isCut: true });
  }
  return ok({ assets: [...found.values()].slice(0, MOST_IN_ACT), isCut: found.size > MOST_IN_ACT });
}
