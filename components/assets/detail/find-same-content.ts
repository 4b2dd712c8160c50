// Finds other assets with the same bytes by what every service offers: the list sorted by size. The interface has no search by hash.
// Guarantees: some twenty small requests for a million assets, however many match; every asset of that size is compared by its hash;
// where that is impossible (no size, no total, too many of one size) the answer has no number.

import { type ApiFailure } from "@/lib/browser/read-failure";
import { type AssetsQuery } from "@/lib/contract/schemas/asset";
import { type AssetView } from "@/lib/contract/views/asset-view";
import { failed, ok, type Result } from "@/lib/shared/result";
import { type AssetPage } from "../asset-page";

export type SameContentFound = { kind: "all" | "atLeast"; others: AssetView[] } | { kind: "cannot" };
export type ReadSorted = (place: { offset: number; limit: number }) => Promise<Result<AssetPage, ApiFailure>>;

/** Above this number of assets of one size, not all are compared. */
const MOST_COMPARED = 2_000;
const PAGE = 500;

export const bySize = {
  sort: "size",
  order: "asc",
  include_public: true,
  limit: PAGE,
  offset: 0,
} as const satisfies AssetsQuery;

export async function findSameContent(asset: AssetView, read: ReadSorted): Promise<Result<SameContentFound, ApiFailure>> {
  const { sizeBytes, hash } = asset;
  if (sizeBytes === undefined || hash === undefined) return ok({ kind: "cannot" });
  const probe = await read({ offset: 0, limit: 1 });
  if (!probe.ok) return probe;
  const { total } = probe.value;
  if (total === undefined) return ok({ kind: "cannot" });
  let [low, high] = [0, total];
  while (low < high && high - low > PAGE / 2) {
    const middle = Math.floor((low + high) / 2);
    const page = await read({ offset: middle, limit: 1 });
    if (!page.ok) return failed(page.failure);
    const size = page.value.assets[0]?.sizeBytes;
    if (size === undefined) return ok({ kind: "cannot" });
    if (size < sizeBytes) low = middle + 1;
    else high = middle;
  }
  return compare(asset, read, low, total);
}

async function compare(asset: AssetView, read: ReadSorted, from: number, total: number): Promise<Result<SameContentFound, ApiFailure>> {
  const others = new Map<string, AssetView>();
  let compared = 0;
  for (let offset = from; offset < total; offset += PAGE) {
    const page = await read({ offset, limit: PAGE });
    if (!page.ok) return failed(page.failure);
    const ofSize = page.value.assets.filter(({ sizeBytes }) => sizeBytes === asset.sizeBytes);
    for (const other of ofSize) if (other.hash === asset.hash && other.id !== asset.id) others.set(other.id, other);
    compared += ofSize.length;
    const isPast = page.value.assets.length === 0 || page.value.assets.some(({ sizeBytes }) => (sizeBytes ?? 0) > (asset.sizeBytes ?? 0));
    if (isPast) break;
    if (compared >= MOST_COMPARED) return ok({ kind: "atLeast", others: [...others.values()] });
  }
  return ok({ kind: "all", others: [...others.values()] });
}
