// The API calls that change one asset.

import { useCapabilities } from "@/components/frame/connection/use-capabilities";
import { callApi, type CallInit } from "@/lib/browser/api";
import { type TimedValue, useLive } from "@/lib/browser/live/use-live";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { withQuery } from "@/lib/browser/urls";
import { type Failure } from "@/lib/contract/failure";
import { type Asset, type AssetsAnswer, type AssetsQuery } from "@/lib/contract/schemas/asset";
import { type AssetDetail, type AssetView, toAssetDetail } from "@/lib/contract/views/asset-view";
import { ok, type Result } from "@/lib/shared/result";
import { type AssetPage, assetsApiPath, toAssetPage } from "./assets-address";

/** Extensions that change an asset. */
export type AssetChange = "tags.remove" | "assets.edit" | "assets.delete";

export type TagsResponse = {
  total_tags: string[];
  added: string[];
  removed: string[];
  already_present: string[];
  not_present: string[];
};
export type AssetEdit = {
  name?: string;
  mime_type?: string;
  preview_id?: string | null;
  user_metadata?: Record<string, unknown>;
};

type Path = `/${string}`;
export function assetPath(id: string, connection: string | undefined, suffix: "" | "/tags" = ""): Path {
  return withQuery(`/api/assets/${encodeURIComponent(id)}${suffix}`, { connection });
}

export const requests = {
  addTags: (tags: readonly string[]): CallInit => ({ method: "POST", json: { tags } }),
  removeTags: (tags: readonly string[]): CallInit => ({ method: "DELETE", json: { tags } }),
  edit: (edit: AssetEdit): CallInit => ({ method: "PUT", json: edit }),
  remove: { method: "DELETE" } satisfies CallInit,
};

/** Maximum assets per response. */
export const MAX_PAGE_SIZE = 500;

type AssetsRequest = { query: AssetsQuery; connectionId: string | undefined };

export async function readAssets(
  { query, connectionId }: AssetsRequest,
  range: { offset: number; limit: number },
  signal?: AbortSignal,
): Promise<Result<AssetPage, ApiFailure>> {
  const result = await callApi<AssetsAnswer>(assetsApiPath({ ...query, ...range }, connectionId), { signal });
  return result.ok ? ok(toAssetPage(result.value)) : result;
}

const toDetail = (asset: Asset) => toAssetDetail(asset);

type UseAssetOptions = {
  id: string;
  connectionId: string | undefined;
  initial?: TimedValue<AssetDetail>;
  initialFailure?: Failure;
  /** The asset from the list, shown until its own response arrives. */
  listedAsset?: AssetView;
};

/** Loads one asset and keeps it current. */
export function useAsset({ id, connectionId, initial, initialFailure, listedAsset }: UseAssetOptions) {
  const path = connectionId ? assetPath(id, connectionId) : undefined;
  const live = useLive(path, { initial, initialFailure, read: toDetail });
  const asset: AssetDetail | undefined = live.value ?? (listedAsset && { ...listedAsset, others: {} });
  return { ...live, asset };
}

export type AssetRights = {
  /** True if the role allows the change and the service supports it. */
  can: (change: AssetChange) => boolean;
  canTag: boolean;
  /** Why some changes are unavailable, if known. */
  why: "role" | "service" | "unsure" | undefined;
};

const assetChanges: readonly AssetChange[] = ["tags.remove", "assets.edit", "assets.delete"];

/** Returns the changes that the role and the service allow. */
export function useAssetRights(connectionId: string | undefined, canChange: boolean): AssetRights {
  const { has, failure } = useCapabilities(canChange ? connectionId : undefined, assetChanges);
  const lacksSome = assetChanges.some((change) => has(change) === false);
  const reason = !canChange ? "role" : lacksSome ? "service" : failure ? "unsure" : undefined;
  return { can: (change) => canChange && has(change) === true, canTag: canChange, why: reason };
}
