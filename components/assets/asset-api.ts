// API calls, hooks and URLs of assets.

import { useTranslations } from "next-intl";
import { useState } from "react";
import useSWRImmutable from "swr/immutable";
import { useCapabilities } from "@/components/frame/connection/use-capabilities";
import { formatFailure } from "@/components/frame/failure/failure-message";
import { showToast } from "@/components/ui/toast-store";
import { callApi, type CallInit } from "@/lib/browser/api";
import { type ApiFailure, toFailure } from "@/lib/browser/api-failure";
import { saveUrl } from "@/lib/browser/files/save-file";
import { type TimedValue, useLive } from "@/lib/browser/live/use-live";
import { parseFailureResponse } from "@/lib/browser/parse-response";
import { apiPath, createThumbnailUrl, createViewUrl, type ThumbnailSize, withQuery } from "@/lib/browser/urls";
import { type Failure, isNotFound } from "@/lib/contract/failure";
import { type Asset, type AssetsQuery, type AssetsResponse } from "@/lib/contract/schemas/asset";
import { type AssetDetail, type AssetView, getAssetFile, toAssetDetail } from "@/lib/contract/views/asset-view";
import { ok, type Result } from "@/lib/shared/result";
import { type AssetPage, getAssetsApiPath, toAssetPage } from "./assets-urls";

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
export function getAssetPath(id: string, connection: string | undefined, suffix: "" | "/tags" = ""): Path {
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

export async function fetchAssets(
  { query, connectionId }: AssetsRequest,
  range: { offset: number; limit: number },
  signal?: AbortSignal,
): Promise<Result<AssetPage, ApiFailure>> {
  const result = await callApi<AssetsResponse>(getAssetsApiPath({ ...query, ...range }, connectionId), { signal });
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
  const path = connectionId ? getAssetPath(id, connectionId) : undefined;
  const live = useLive(path, { initial, initialFailure, read: toDetail });
  const asset: AssetDetail | undefined = live.value ?? (listedAsset && { ...listedAsset, others: {} });
  return { ...live, asset };
}

export type AssetRights = {
  /** True if the role allows the change and the service supports it. */
  can: (change: AssetChange) => boolean;
  canTag: boolean;
  /** Why some changes are unavailable, if known. */
  restrictionReason: "role" | "service" | "unsure" | undefined;
};

const assetChanges: readonly AssetChange[] = ["tags.remove", "assets.edit", "assets.delete"];

/** Returns the changes that the role and the service allow. */
export function useAssetRights(connectionId: string | undefined, canChange: boolean): AssetRights {
  const { has, failure } = useCapabilities(canChange ? connectionId : undefined, assetChanges);
  const hasUnsupportedChange = assetChanges.some((change) => has(change) === false);
  const restrictionReason = !canChange ? "role" : hasUnsupportedChange ? "service" : failure ? "unsure" : undefined;
  return { can: (change) => canChange && has(change) === true, canTag: canChange, restrictionReason };
}

// URLs of an asset's pages and files.

/** Maximum assets in a Run page URL. Proxies may reject longer URLs. */
export const MAX_RUN_ASSETS = 100;

/** The asset's page. Includes the connection, since a shared link could otherwise open another service. */
export function getAssetHref(id: string, connection?: string): `/${string}` {
  return withQuery(`/assets/${encodeURIComponent(id)}`, { connection });
}

/** The page's absolute URL, for sharing. */
export function getAssetLink(id: string, connection?: string): string {
  return window.location.origin + apiPath(getAssetHref(id, connection));
}

export function getMaskHref(id: string, connection?: string): `/${string}` {
  return withQuery(`/assets/${encodeURIComponent(id)}/mask`, { connection });
}

/** The Run page with these assets as inputs. */
export function getRunHref(ids: readonly string[], connection?: string): `/${string}` {
  return withQuery("/run", { assets: ids, connection });
}

/** The Run page with the asset's embedded workflow. */
export function getEmbeddedWorkflowHref(id: string, connection?: string): `/${string}` {
  return withQuery("/run", { carrier: id, connection });
}

/** The asset's thumbnail. The URL includes the content hash, so that browsers can cache it forever. Without a hash it is revalidated. */
export function getAssetThumbnailUrl(
  { id, hash, previewId }: Pick<AssetView, "id" | "hash" | "previewId">,
  edge: ThumbnailSize,
  { connection, fit }: { connection?: string; fit?: "fill" } = {},
): string {
  const version = hash && previewId && previewId !== id ? `${hash}.${previewId}` : hash;
  return createThumbnailUrl({ asset: id, version, edge, fit, connection });
}

/** The URL of the full file. */
export function getAssetFileUrl(asset: Pick<AssetView, "file" | "hash" | "name" | "tags">, connection?: string): string {
  return createViewUrl({ ...getAssetFile(asset), connection });
}

/** Whether the service serves files. Services with only the core API are probed with one file, once per tab. */
export function useServesFiles(connectionId: string | undefined, fileUrl: string | undefined): boolean {
  const hasOnlyCoreApi = useCapabilities(connectionId, ["tags.list"]).has("tags.list") === false;
  const { data } = useSWRImmutable(hasOnlyCoreApi && fileUrl !== undefined ? ["assets.file", connectionId] : null, async () =>
    fileUrl === undefined ? undefined : await probeFirstByte(fileUrl),
  );
  return data === undefined || !isNotFound(data);
}

/** Requests the first byte before downloading, so that an error appears as a toast instead of replacing the page. */
export function useFileDownload(): (url: string, name: string) => Promise<void> {
  const errors = useTranslations("errors");
  const [isChecking, setChecking] = useState(false);
  return async (url, name) => {
    if (isChecking) return;
    setChecking(true);
    const failure = await probeFirstByte(url);
    setChecking(false);
    if (failure) return showToast({ tone: "bad", text: formatFailure(errors, failure) });
    saveUrl(url, name);
  };
}

async function probeFirstByte(url: string) {
  const controller = new AbortController();
  try {
    const response = await fetch(url, { headers: { range: "bytes=0-0" }, signal: controller.signal });
    // An empty file has no first byte (416).
    if (response.ok || response.status === 416) return undefined;
    return parseFailureResponse(response.status, response.headers.get("retry-after"), await response.text());
  } catch (cause) {
    return toFailure(cause);
  } finally {
    controller.abort();
  }
}
