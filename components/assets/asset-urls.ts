// The URLs of an asset's page, file and uses.

import { useTranslations } from "next-intl";
import { useState } from "react";
import useSWRImmutable from "swr/immutable";
import { useCapabilities } from "@/components/frame/connection/use-capabilities";
import { failureText } from "@/components/frame/failure/fault-owner";
import { showToast } from "@/components/ui/toast-store";
import { saveUrl } from "@/lib/browser/files/save-file";
import { readFailure } from "@/lib/browser/read-answer";
import { toFailure } from "@/lib/browser/read-failure";
import { apiPath, createThumbnailUrl, createViewUrl, type ThumbnailEdge, withQuery } from "@/lib/browser/urls";
import { isNotFound } from "@/lib/contract/failure";
import { type AssetView, getAssetFile } from "@/lib/contract/views/asset-view";

/** Proxies may reject longer URLs. */
export const MAX_IN_RUN = 100;

/** The asset's page. Includes the connection, since a shared link could otherwise open another service. */
export function assetHref(id: string, connection?: string): `/${string}` {
  return withQuery(`/assets/${encodeURIComponent(id)}`, { connection });
}

/** The page's absolute URL, for sharing. */
export function assetLink(id: string, connection?: string): string {
  return window.location.origin + apiPath(assetHref(id, connection));
}

export function maskHref(id: string, connection?: string): `/${string}` {
  return withQuery(`/assets/${encodeURIComponent(id)}/mask`, { connection });
}

/** The Run page with these assets as inputs. */
export function runHref(ids: readonly string[], connection?: string): `/${string}` {
  return withQuery("/run", { assets: ids, connection });
}

/** The Run page with the asset's embedded workflow. */
export function embeddedWorkflowHref(id: string, connection?: string): `/${string}` {
  return withQuery("/run", { carrier: id, connection });
}

/** A preview of the asset. The URL includes the content hash, so that browsers can cache it forever; without a hash it is revalidated. */
export function pictureUrl(
  { id, hash, previewId }: Pick<AssetView, "id" | "hash" | "previewId">,
  edge: ThumbnailEdge,
  { connection, fit }: { connection?: string; fit?: "fill" } = {},
): string {
  const version = hash && previewId && previewId !== id ? `${hash}.${previewId}` : hash;
  return createThumbnailUrl({ asset: id, version, edge, fit, connection });
}

/** The URL of the full file. */
export function assetFileUrl(asset: Pick<AssetView, "file" | "hash" | "name" | "tags">, connection?: string): string {
  return createViewUrl({ ...getAssetFile(asset), connection });
}

/** Whether the service serves files. Services with only the core API are probed with one file, once per tab. */
export function useServesFiles(connectionId: string | undefined, file: string | undefined): boolean {
  const isCore = useCapabilities(connectionId, ["tags.list"]).has("tags.list") === false;
  const { data } = useSWRImmutable(isCore && file !== undefined ? ["assets.file", connectionId] : null, async () =>
    file === undefined ? undefined : await probeFirstByte(file),
  );
  return data === undefined || !isNotFound(data);
}

/** Requests the first byte before downloading, so that a refusal is reported here instead of replacing the page. */
export function useFileDownload(): (url: string, name: string) => Promise<void> {
  const errors = useTranslations("errors");
  const [isChecking, setChecking] = useState(false);
  return async (url, name) => {
    if (isChecking) return;
    setChecking(true);
    const failure = await probeFirstByte(url);
    setChecking(false);
    if (failure) return showToast({ tone: "bad", text: failureText(errors, failure) });
    saveUrl(url, name);
  };
}

async function probeFirstByte(url: string) {
  const stop = new AbortController();
  try {
    const response = await fetch(url, { headers: { range: "bytes=0-0" }, signal: stop.signal });
    // An empty file has no first byte (416).
    if (response.ok || response.status === 416) return undefined;
    return readFailure(response.status, response.headers.get("retry-after"), await response.text());
  } catch (cause) {
    return toFailure(cause);
  } finally {
    stop.abort();
  }
}
