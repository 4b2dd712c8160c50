"use client";

import { type ApiFailure } from "@/lib/browser/read-failure";
import { withQuery } from "@/lib/browser/urls";
import { type AssetView, toAssetView } from "@/lib/contract/asset-view";
import { type AssetsAnswer } from "@/lib/contract/schemas/asset";
import { useConnection } from "../connection-context";
import { useSought } from "./use-sought";

const SHORTEST = 2;
const MOST = 6;
/** A service may have none, which is no fault of anybody. */
const hasNone = (failure: ApiFailure) => [404, 405, 501].includes(failure.status);

export type SoughtAssets = { text: string; assets: readonly AssetView[]; failure?: ApiFailure };

/** Assets by a piece of their name: the service is asked, as only it knows them all. */
export function useSoughtAssets(typed: string): SoughtAssets | undefined {
  const { id: connection, hasNoAssets } = useConnection() ?? {};
  const text = typed.trim();
  const isAsked = text.length >= SHORTEST && connection !== undefined && !hasNoAssets;
  const query = { name_contains: text, include_public: true, sort: "created_at", order: "desc", limit: MOST, connection };
  return useSought<AssetsAnswer, SoughtAssets>(isAsked ? withQuery("/api/assets", query) : undefined, (result) =>
    result.ok
      ? { text, assets: result.value.assets.map(toAssetView) }
      : { text, assets: [], ...(!hasNone(result.failure) && { failure: result.failure }) },
  );
}
