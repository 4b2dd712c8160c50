"use client";

import Link from "next/link";
import { useTranslations } from "next-intl";
import { use } from "react";
import { useConnection } from "@/components/frame/connection-context";
import { FailureMessage } from "@/components/frame/failure-message";
import { PageHeader } from "@/components/frame/page-header";
import { buttonStyle } from "@/components/ui/button";
import { Card } from "@/components/ui/card";
import { EmptyState } from "@/components/ui/empty-state";
import { type Stamped, usePoll } from "@/lib/browser/use-poll";
import { withQuery } from "@/lib/browser/urls";
import { type AssetView, toAssetView } from "@/lib/contract/asset-view";
import { type Failure } from "@/lib/contract/failure";
import { type Asset } from "@/lib/contract/schemas/asset";
import { type Result } from "@/lib/shared/result";
import { AssetActions, AssetPreview, AssetSummary, AssetTags } from "./asset-details";
import { AssetFacts } from "./asset-facts";

type AssetScreenProps = { assetId: string; connection?: string; asset: Promise<Result<Stamped<AssetView>, Failure>> };

const readAsset = (asset: Asset) => toAssetView(asset);
const rarely = () => "background" as const;

export function AssetScreen({ assetId, connection, asset: reading }: AssetScreenProps) {
  const t = useTranslations("assets");
  const first = use(reading);
  const connectionId = useConnection()?.id;
  const path = connectionId ? withQuery(`/api/assets/${encodeURIComponent(assetId)}`, { connection: connectionId }) : undefined;
  const poll = usePoll(path, { initial: first.ok ? first.value : undefined, read: readAsset, motion: rarely });
  const asset = poll.value;
  const failure = poll.failure ?? (first.ok || asset ? undefined : first.failure);
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
        {asset ? <AssetActions asset={asset} connectionId={connectionId} /> : null}
      </PageHeader>
      {failure?.code === "NOT_FOUND" ? (
        <EmptyState
          title={t("page.missing")}
          text={t("page.missingText")}
          action={
            <Link href={list} className={buttonStyle()}>
              {t("page.back")}
            </Link>
          }
        />
      ) : null}
      {failure && failure.code !== "NOT_FOUND" ? (
        <FailureMessage failure={failure} onRetry={() => void poll.refresh()} className="mx-4 mt-4 md:mx-5" />
      ) : null}
      {asset ? (
        <div className="grid items-start gap-3.5 p-4 md:px-5 lg:grid-cols-[minmax(0,1fr)_380px]">
          <div className="min-w-0">
            <AssetPreview asset={asset} connectionId={connectionId} edge={1024} />
          </div>
          <Card title={t("details.title")} bodyClassName="flex flex-col gap-3">
            <AssetSummary asset={asset} />
            <AssetTags asset={asset} connection={connection} />
            <AssetFacts asset={asset} connection={connection} />
          </Card>
        </div>
      ) : null}
    </>
  );
}
