// Caches the preview fields of listed assets for a minute, so that thumbnails need no extra call.

import "server-only";
import { asObject, asText } from "@/lib/contract/json/json";
import { type Operation } from "@/lib/contract/operation";
import { type Asset } from "@/lib/contract/schemas/asset";
import { createLru } from "@/lib/shared/lru";

export type PreviewSource = Pick<Asset, "name" | "preview_url" | "mime_type" | "asset_hash">;
export type AssetPreviewCache = ReturnType<typeof createAssetPreviewCache>;

const CACHE_MS = 60_000;
const MAX_ENTRIES = 5_000;
/** Signed URLs may be long. Longer entries are not cached. */
const MAX_CHARACTERS = 4_000;

export function createAssetPreviewCache(now: () => number) {
  const sources = createLru<string, { source: PreviewSource; atMs: number }>({ max: MAX_ENTRIES });
  return {
    /** `readerKey` combines connection, URL and key, because services return different data for each. */
    record(readerKey: string, operation: Operation, response: unknown): void {
      if (operation.subject !== "assets") return;
      const listedAssets = asObject(response)?.assets;
      for (const asset of Array.isArray(listedAssets) ? listedAssets.map(asObject) : []) {
        const [id, name] = [asText(asset?.id), asText(asset?.name)];
        if (id === undefined || name === undefined) continue;
        const key = `${readerKey}\n${id}`;
        sources.delete(key);
        const source = {
          name,
          preview_url: asText(asset?.preview_url),
          mime_type: asText(asset?.mime_type),
          asset_hash: asText(asset?.asset_hash),
        };
        const length = Object.values(source).reduce((sum, text = "") => sum + text.length, key.length);
        if (length <= MAX_CHARACTERS) sources.set(key, { source, atMs: now() });
      }
    },
    find(readerKey: string, id: string): PreviewSource | undefined {
      const entry = sources.get(`${readerKey}\n${id}`);
      return entry && now() - entry.atMs < CACHE_MS ? entry.source : undefined;
    },
  };
}
