// Where an asset's bytes and pictures come from.

import { viewUrl, withQuery } from "@/lib/browser/urls";
import { type AssetView } from "@/lib/contract/asset-view";

/** Its page; the connection travels along, or a link sent to a colleague would open another service's list. */
export function assetHref(id: string, connection?: string): `/${string}` {
  return withQuery(`/assets/${encodeURIComponent(id)}`, { connection });
}

/** The file in full. The interface finds it by content hash, else by name. */
export function assetFileUrl({ hash, name, tags }: Pick<AssetView, "hash" | "name" | "tags">, connection?: string): string {
  const type = ["output", "temp", "input"].find((word) => tags.includes(word));
  return viewUrl({ filename: hash ?? name, type, connection });
}
