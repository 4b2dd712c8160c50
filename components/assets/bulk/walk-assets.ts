import { walkPages, type Work } from "@/lib/browser/bulk/bulk-calls";
import { type AssetsAnswer, type AssetsQuery } from "@/lib/contract/schemas/asset";
import { toAssetPage } from "../asset-page";
import { assetsApiPath } from "../assets-address";
import { MOST_AT_ONCE } from "../read-assets";
import { type Meant } from "./asset-acts";

/** The most assets in one act. */
export const MOST_IN_ACT = 100_000;

/** All assets of a query. There may be very many, so only what an act needs of each is kept. */
export function walkAssets(query: AssetsQuery, work: Work) {
  const pathAt = (offset: number) => assetsApiPath({ ...query, limit: MOST_AT_ONCE, offset }, work.connection);
  function read(answer: AssetsAnswer) {
    const { assets, total, hasMore } = toAssetPage(answer);
    const items = assets.map(({ id, name, immutable }): Meant => ({ id, name, immutable }));
    return { items, rows: assets.length, total, hasMore };
  }
  return walkPages<AssetsAnswer, Meant>({ pathAt, read, most: MOST_IN_ACT }, work);
}
