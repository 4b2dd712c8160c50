"use client";

import { useSearchParams } from "next/navigation";
import { useTranslations } from "next-intl";
import { lazy, Suspense, use, useCallback } from "react";
import { NewRows } from "@/components/data-table/new-rows";
import { Paging } from "@/components/data-table/paging";
import { useHeldRows } from "@/components/data-table/use-held-rows";
import { useConnection } from "@/components/frame/connection-context";
import { FailureMessage } from "@/components/frame/failure-message";
import { Freshness } from "@/components/frame/freshness";
import { PageHeader } from "@/components/frame/page-header";
import { useStoredAssets } from "@/components/frame/stored-assets";
import { ToolBar } from "@/components/frame/tool-bar";
import { WaysInMenu } from "@/components/frame/ways-in-menu";
import { apiPath } from "@/lib/browser/urls";
import { type Stamped, usePoll } from "@/lib/browser/use-poll";
import { type AssetView } from "@/lib/contract/asset-view";
import { type Failure } from "@/lib/contract/failure";
import { type AssetsQuery } from "@/lib/contract/schemas/asset";
import { type Result } from "@/lib/shared/result";
import { AssetGrid } from "./asset-grid";
import { type AssetPage, toAssetPage } from "./asset-page";
import { assetsApiPath, assetsHref } from "./assets-address";
import { AssetsEmpty } from "./assets-empty";
import { AssetsFilter } from "./assets-filter";

type AssetsScreenProps = {
  query: AssetsQuery;
  /** `?connection=` of the address, where it has one. */
  connection?: string;
  canUpload: boolean;
  assets: Promise<Result<Stamped<AssetPage>, Failure>>;
};

/** Comes with the first asset that is opened. */
const AssetPanel = lazy(() => import("./asset-panel").then(({ AssetPanel }) => ({ default: AssetPanel })));

const noAssets: AssetView[] = [];
const still = () => "still" as const;

export function AssetsScreen({ query, connection, canUpload, assets: reading }: AssetsScreenProps) {
  const t = useTranslations("assets");
  const first = use(reading);
  const connectionId = useConnection()?.id;
  const path = connectionId ? assetsApiPath(query, connectionId) : undefined;
  const poll = usePoll(path, { initial: first.ok ? first.value : undefined, read: toAssetPage, motion: still });
  const page = poll.value;
  const failure = poll.failure ?? (first.ok || page ? undefined : first.failure);
  const canHold = query.offset === 0 && query.sort === "created_at" && query.order === "desc";
  const { rows: assets, newCount } = useHeldRows(assetsHref(query), page?.assets ?? noAssets, canHold);
  useStoredAssets(() => void poll.refresh());

  const openId = useSearchParams()?.get("asset") ?? undefined;
  const show = useCallback(
    (asset?: string) => window.history.pushState(null, "", apiPath(assetsHref(query, { connection, asset }))),
    [query, connection],
  );
  const close = useCallback(() => {
    show();
    const tile = openId && document.querySelector<HTMLElement>(`[data-asset="${CSS.escape(openId)}"]`);
    if (tile) tile.focus({ preventScroll: true });
  }, [show, openId]);

  return (
    <div className="flex flex-1 flex-col">
      <PageHeader title={t("title")} count={page?.total}>
        <Freshness atMs={poll.atMs} everyMs={poll.everyMs} isFailing={poll.failure !== undefined} />
        {canUpload ? <WaysInMenu /> : null}
      </PageHeader>
      <ToolBar label={t("filter.label")}>
        <AssetsFilter query={query} connection={connection} />
      </ToolBar>
      <div className="flex flex-1 items-start">
        <div className="flex min-w-0 flex-1 flex-col">
          {failure ? <FailureMessage failure={failure} onRetry={() => void poll.refresh()} className="mx-4 mt-4 md:mx-5" /> : null}
          <NewRows count={newCount} text={t("grid.waiting", { count: newCount })} />
          {page && assets.length === 0 ? <AssetsEmpty query={query} connection={connection} canUpload={canUpload} /> : null}
          {assets.length > 0 ? (
            <AssetGrid assets={assets} connectionId={connectionId} connection={connection} openId={openId} onOpen={show} />
          ) : null}
        </div>
        {openId ? (
          <Suspense>
            <AssetPanel
              id={openId}
              listed={assets.find(({ id }) => id === openId)}
              connectionId={connectionId}
              connection={connection}
              onClose={close}
            />
          </Suspense>
        ) : null}
      </div>
      {page ? (
        <Paging
          offset={query.offset}
          limit={query.limit}
          count={assets.length}
          total={page.total}
          hasMore={page.hasMore}
          hrefOf={(offset) => assetsHref(query, { offset, connection })}
          className="mt-auto md:sticky md:bottom-0 md:z-20"
        />
      ) : null}
    </div>
  );
}
