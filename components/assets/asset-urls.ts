// The addresses of an asset's page, bytes and uses, and the short name of its job.

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

/** Proxies in front of a console refuse longer addresses. */
export const MAX_IN_RUN = 100;

/** Its page. The address names the connection, as otherwise a link sent to a colleague could open another service's list. */
export function assetHref(id: string, connection?: string): `/${string}` {
  return withQuery(`/assets/${encodeURIComponent(id)}`, { connection });
}

/** The page's full address, for sharing. */
export function assetLink(id: string, connection?: string): string {
  return window.location.origin + apiPath(assetHref(id, connection));
}

export function maskHref(id: string, connection?: string): `/${string}` {
  return withQuery(`/assets/${encodeURIComponent(id)}/mask`, { connection });
}

/** A run with these assets as its inputs. */
export function runHref(ids: readonly string[], connection?: string): `/${string}` {
  return withQuery("/run", { assets: ids, connection });
}

/** Opens in Run the workflow that the asset carries. */
export function carriedHref(id: string, connection?: string): `/${string}` {
  return withQuery("/run", { carrier: id, connection });
}

/** A smaller picture of it. The address names its content, so that a browser can keep it forever; without hashes it is revalidated. */
export function pictureUrl(
  { id, hash, previewId }: Pick<AssetView, "id" | "hash" | "previewId">,
  edge: ThumbnailEdge,
  { connection, fit }: { connection?: string; fit?: "fill" } = {},
): string {
  const version = hash && previewId && previewId !== id ? `${hash}.${previewId}` : hash;
  return createThumbnailUrl({ asset: id, version, edge, fit, connection });
}

/** The address of the whole file. */
export function assetFileUrl(asset: Pick<AssetView, "file" | "hash" | "name" | "tags">, connection?: string): string {
  return createViewUrl({ ...getAssetFile(asset), connection });
}

/** Whether this service serves files. A service with only the core API is checked with one file, once per tab. */
export function useHandsOutFiles(connectionId: string | undefined, file: string | undefined): boolean {
  const isCore = useCapabilities(connectionId, ["tags.list"]).has("tags.list") === false;
  const { data } = useSWRImmutable(isCore && file !== undefined ? ["assets.file", connectionId] : null, async () =>
    file === undefined ? undefined : await firstByteFailure(file),
  );
  return data === undefined || !isNotFound(data);
}

/** Saves a file after its first byte was received: a refusal is reported here, and does not replace the page. */
export function useFileDownload(): (url: string, name: string) => Promise<void> {
  const errors = useTranslations("errors");
  const [isAsking, setAsking] = useState(false);
  return async (url, name) => {
    if (isAsking) return;
    setAsking(true);
    const failure = await firstByteFailure(url);
    setAsking(false);
    if (failure) return showToast({ tone: "bad", text: failureText(errors, failure) });
    saveUrl(url, name);
  };
}

async function firstByteFailure(url: string) {
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
