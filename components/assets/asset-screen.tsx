"use client";

import { useTranslations } from "next-intl";
import { use, useState } from "react";
import { useConnection } from "@/components/frame/connection/connection-context";
import { FailureMessage } from "@/components/frame/failure/failure-message";
import { Freshness } from "@/components/frame/list/tool-bar";
import { PageHeader } from "@/components/frame/page-header";
import { Card } from "@/components/ui/card";
import { buttonStyle } from "@/components/ui/controls/button";
import { EmptyState } from "@/components/ui/empty-state";
import { Link } from "@/components/ui/link";
import { initialOf, type Stamped } from "@/lib/browser/poll/use-poll";
import { withQuery } from "@/lib/browser/urls";
import { type Failure } from "@/lib/contract/failure";
import { type AssetDetail } from "@/lib/contract/views/asset-view";
import { type Result } from "@/lib/shared/result";
import { useAsset } from "./asset-calls";
import { useAssetRights } from "./asset-calls";
import { AssetActions } from "./detail/asset-actions";
import { AssetFacts } from "./detail/asset-facts";
import { AssetPreview } from "./detail/asset-preview";
import { AssetSummary } from "./detail/asset-preview";
import { AssetTags } from "./detail/asset-tags";
import { useAssetEdits } from "./detail/asset-tags";
import { JobSiblings } from "./detail/job-siblings";

type AssetScreenProps = {
  assetId: string;
  connection?: string;
  canChange: boolean;
  asset: Promise<Result<Stamped<AssetDetail>, Failure>>;
};

export function AssetScreen({ assetId, connection, canChange, asset: reading }: AssetScreenProps) {
  const t = useTranslations("assets");
  const first = use(reading);
  const connectionId = useConnection()?.id;
  const poll = useAsset({ id: assetId, connectionId, ...initialOf(first) });
  const { failure, refresh } = poll;
  const [isDeleted, setDeleted] = useState(false);
  const isGone = isDeleted || failure?.code === "NOT_FOUND";
  const asset = isDeleted ? undefined : poll.asset;
  const rights = useAssetRights(connectionId, canChange);
  const edits = useAssetEdits({
    asset,
    connectionId,
    onPatch: (change) => poll.patch(change),
    onDone: () => void refresh(),
    onDeleted: () => setDeleted(true),
  });
  const list = withQuery("/assets", { connection });
  return (
    <>
      <PageHeader
        trail={
          <Link href={list} className="rounded-sm hover:text-ink">
            {t("title")} /
          </Link>
        }
        title={<span className="break-all">{asset?.name ?? assetId.slice(0, 8)}</span>}
      >
        {asset ? <Freshness atMs={poll.atMs} everyMs={poll.everyMs} isFailing={failure !== undefined} /> : null}
      </PageHeader>
      {isGone ? (
        <EmptyState
          title={t(isDeleted ? "page.deleted" : "page.missing")}
          text={t(isDeleted ? "page.deletedText" : "page.missingText")}
          action={
            <Link href={list} className={buttonStyle()}>
              {t("page.back")}
            </Link>
          }
        />
      ) : null}
      {failure && !isGone ? <FailureMessage failure={failure} onRetry={() => void refresh()} className="mx-4 mt-4 md:mx-5" /> : null}
      {asset && !isGone ? (
        <div className="grid items-start gap-3.5 p-4 md:px-5 lg:grid-cols-[minmax(0,1fr)_380px] lg:grid-rows-[auto_1fr]">
          <div className="min-w-0">
            <AssetPreview asset={asset} connectionId={connectionId} isLarge />
          </div>
          <Card title={t("details.title")} className="lg:row-span-2" bodyClassName="flex flex-col gap-3">
            <AssetActions asset={asset} connectionId={connectionId} connection={connection} rights={rights} edits={edits} />
            <AssetSummary asset={asset} connectionId={connectionId} isShownWhole />
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
