import { callApi } from "@/lib/browser/api";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { type AssetsAnswer, type AssetsQuery } from "@/lib/contract/schemas/asset";
import { ok, type Result } from "@/lib/shared/result";
import { type AssetPage, toAssetPage } from "./asset-page";
import { assetsApiPath } from "./assets-address";

/** The most assets that the interface returns in one answer. */
export const MOST_AT_ONCE = 500;

type Where = { query: AssetsQuery; connectionId: string | undefined };

export async function readAssets(
  { query, connectionId }: Where,
  place: { offset: number; limit: number },
  signal?: AbortSignal,
): Promise<Result<AssetPage, ApiFailure>> {
  const result = await callApi<AssetsAnswer>(assetsApiPath({ ...query, ...place }, connectionId), { signal });
  return result.ok ? ok(toAssetPage(result.value)) : result;
}
