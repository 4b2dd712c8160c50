"use client";

import { useTranslations } from "next-intl";
import { use, useState } from "react";
import { useConnection } from "@/components/frame/connection/connection-context";
import { FailureMessage } from "@/components/frame/failure/failure-message";
import { Freshness } from "@/components/frame/list/tool-bar";
import { PageHeader } from "@/components/frame/page-header";
import { Card } from "@/components/ui/card";
import { EmptyState } from "@/components/ui/empty-state";
import { ButtonLink, Link } from "@/components/ui/link";
import { type TimedValue, toInitialOptions } from "@/lib/browser/live/use-live";
import { toShortId, withQuery } from "@/lib/browser/urls";
import { type Failure } from "@/lib/contract/failure";
import { type AssetDetail } from "@/lib/contract/views/asset-view";
import { type Result } from "@/lib/shared/result";
import { useAsset, useAssetRights } from "./asset-api";
import { AssetFacts } from "./detail/asset-facts";
import { AssetActions, AssetPreview, AssetSummary } from "./detail/asset-preview";
import { AssetTags, useAssetEdits } from "./detail/asset-tags";
import { JobSiblings } from "./detail/job-siblings";

type AssetScreenProps = {
  assetId: string;
  connection?: string;
  canChange: boolean;
  asset: Promise<Result<TimedValue<AssetDetail>, Failure>>;
};

export function AssetScreen({ assetId, connection, canChange, asset: assetPromise }: AssetScreenProps) {
  const t = useTranslations("assets");
  const initialResult = use(assetPromise);
  const connectionId = useConnection()?.id;
  const live = useAsset({ id: assetId, connectionId, ...toInitialOptions(initialResult) });
  const { failure, refresh } = live;
  const [isDeleted, setDeleted] = useState(false);
  const isDeletedOrMissing = isDeleted || failure?.code === "NOT_FOUND";
  const asset = isDeleted ? undefined : live.asset;
  const rights = useAssetRights(connectionId, canChange);
  const edits = useAssetEdits({
    asset,
    connectionId,
    onPatch: (change) => live.patch(change),
    onDone: () => void refresh(),
    onDeleted: () => setDeleted(true),
  });
  const listHref = withQuery("/assets", { connection });
  return (
    <>
      <PageHeader
        trail={
          <Link href={listHref} className="rounded-sm hover:text-ink">
            {t("title")} /
          </Link>
        }
        title={<span className="break-all">{asset?.name ?? toShortId(assetId)}</span>}
      >
        {asset ? <Freshness atMs={live.atMs} isFailing={failure !== undefined} /> : null}
      </PageHeader>
      {isDeletedOrMissing ? (
        <EmptyState
          title={t(isDeleted ? "page.deleted" : "page.missing")}
          text={t(isDeleted ? "page.deletedText" : "page.missingText")}
          action={<ButtonLink href={listHref}>{t("page.back")}</ButtonLink>}
        />
      ) : null}
      {failure && !isDeletedOrMissing ? (
        <FailureMessage failure={failure} onRetry={() => void refresh()} className="mx-4 mt-4 md:mx-5" />
      ) : null}
      {asset && !isDeletedOrMissing ? (
        <div className="grid items-start gap-3.5 p-4 md:px-5 lg:grid-cols-[minmax(0,1fr)_380px] lg:grid-rows-[auto_1fr]">
          <div className="min-w-0">
            <AssetPreview asset={asset} connectionId={connectionId} isLarge />
          </div>
          <Card title={t("details.title")} className="lg:row-span-2" bodyClassName="flex flex-col gap-3">
            <AssetActions asset={asset} connectionId={connectionId} connection={connection} rights={rights} edits={edits} />
            <AssetSummary asset={asset} connectionId={connectionId} isFullImageVisible />
            <AssetTags asset={asset} connectionId={connectionId} connection={connection} rights={rights} edits={edits} />
            <AssetFacts asset={asset} connectionId={connectionId} connection={connection} />
          </Card>
          {asset.jobId ? (
            <Card title={t("panel.siblings")} className="min-w-0">
              <JobSiblings jobId={asset.jobId} asset={asset} connectionId={connectionId} connection={connection} />
            </Card>
          ) : null}
        </div>
      ) : null}
    </>
  );
}
