// Builds assets and loaded lists of them.
import { type AssetsSource } from "@/components/assets/gallery/chunk-store";
import { type AssetView } from "@/lib/contract/views/asset-view";

export const createAsset = (id: string, overrides: Partial<AssetView> = {}): AssetView => ({
  id,
  name: `${id}.png`,
  kind: "image",
  tags: [],
  immutable: false,
  metadata: {},
  ...overrides,
});

const noop = () => undefined;

/** Creates a list with these loaded rows. */
export function createAssetsSource(rows: readonly AssetView[], overrides: Partial<AssetsSource> = {}): AssetsSource {
  return {
    ...{ version: 1, total: rows.length, newCount: 0, failure: undefined, atMs: 0, offset: 0, isEmpty: rows.length === 0 },
    ...{ count: rows.length, at: (index) => rows[index], getRows: () => [...rows], loadRange: async () => [] },
    ...{ indexOf: (id) => rows.findIndex((row) => row.id === id), request: noop, refresh: noop, patch: noop },
    ...overrides,
  };
}
