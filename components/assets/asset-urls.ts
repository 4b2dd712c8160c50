// The addresses of an asset's page, bytes and uses, and the short name of its job.

import { apiPath, type ThumbnailEdge, thumbnailUrl, viewUrl, withQuery } from "@/lib/browser/urls";
import { type AssetView, fileOfAsset } from "@/lib/contract/views/asset-view";

/** Proxies in front of a console refuse longer addresses. */
export const MOST_IN_RUN = 100;

/** The name of jobs everywhere: enough of the id to tell them apart. */
export function shortJob(jobId: string): string {
  return jobId.slice(0, 8);
}

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
  return thumbnailUrl({ asset: id, version, edge, fit, connection });
}

/** The address of the whole file. */
export function assetFileUrl(asset: Pick<AssetView, "file" | "hash" | "name" | "tags">, connection?: string): string {
  return viewUrl({ ...fileOfAsset(asset), connection });
}
