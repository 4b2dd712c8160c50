import { useMemo } from "react";
import { usePausedRows } from "@/components/data-table/use-paused-rows";
import { initialOf, type Stamped, usePoll } from "@/lib/browser/poll/use-poll";
import { type Failure } from "@/lib/contract/failure";
import { type AssetsQuery } from "@/lib/contract/schemas/asset";
import { type AssetView } from "@/lib/contract/views/asset-view";
import { type Result } from "@/lib/shared/result";
import { type AssetPage, toAssetPage } from "../asset-page";
import { assetsApiPath, questionOf } from "../assets-address";
import { type AssetsSource } from "./assets-source";

type PagedOptions = {
  query: AssetsQuery;
  connectionId: string | undefined;
  first: Result<Stamped<AssetPage>, Failure>;
  isOn: boolean;
};

const none: AssetView[] = [];
const still = () => "still" as const;

/** One page of the list, kept up to date by polling. */
export function usePaged({ query, connectionId, first, isOn }: PagedOptions): AssetsSource & { hasMore: boolean | undefined } {
  const path = connectionId && isOn ? assetsApiPath(query, connectionId) : undefined;
  const poll = usePoll(path, { ...(isOn && initialOf(first)), read: toAssetPage, motion: still });
  const page = poll.value;
  const view = `${questionOf(query)} ${query.offset} ${query.limit}`;
  const paused = usePausedRows(view, page?.assets ?? none, { total: page?.total, isHeld: query.offset > 0 });
  const { rows, newCount } = paused;
  const { failure, atMs, everyMs, refresh, patch } = poll;
  return useMemo(
    () => ({
      version: atMs ?? 0,
      count: rows.length,
      total: page?.total,
      hasMore: page?.hasMore,
      at: (index) => rows[index],
      indexOf: (id) => rows.findIndex((asset) => asset.id === id),
      rows: () => rows,
      range: (from, to) => Promise.resolve(rows.slice(from, to)),
      want: () => undefined,
      newCount,
      failure,
      unreadable: page?.unreadable,
      atMs,
      everyMs,
      refresh: () => void refresh(),
      patch: (id, change) => patch((now) => ({ ...now, assets: now.assets.map((asset) => (asset.id === id ? change(asset) : asset)) })),
      offset: query.offset,
      isEmpty: page === undefined,
    }),
    [rows, newCount, page, failure, atMs, everyMs, refresh, patch, query.offset],
  );
}
