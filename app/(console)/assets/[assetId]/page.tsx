import { type Metadata } from "next";
import { getTranslations } from "next-intl/server";
import { cache, Suspense } from "react";
import { withRequestTime } from "@/app/(console)/console-page";
import { decodePathParam, getTextParam } from "@/app/(console)/params";
import { AssetScreen } from "@/components/assets/asset-screen";
import { PageMessages } from "@/components/frame/page-header";
import { PageSkeleton } from "@/components/frame/page-skeleton";
import { toAssetDetail } from "@/lib/contract/views/asset-view";
import { openPage } from "@/lib/server/bff/open-page";
import { pickMessages } from "@/lib/server/i18n/messages";
import { getAsset } from "@/lib/server/queries/assets";
import { withTimeout } from "@/lib/shared/async";

/** Maximum time that an unresponsive service may delay the title. */
const MAX_TITLE_WAIT_MS = 1_000;

const openPageOnce = cache(openPage);
/** Cached per request, because title and page share one read. */
const getAssetOnce = cache(async (assetId: string, connection: string | undefined) => getAsset(await openPageOnce(), assetId, connection));

export async function generateMetadata({ params, searchParams }: PageProps<"/assets/[assetId]">): Promise<Metadata> {
  const t = await getTranslations("assets");
  const assetId = decodePathParam((await params).assetId);
  const asset = await withTimeout(
    getAssetOnce(assetId, getTextParam(await searchParams, "connection")),
    MAX_TITLE_WAIT_MS,
    () => undefined,
  );
  return { title: asset?.ok ? toAssetDetail(asset.value).name : t("title") };
}

export default async function AssetPage({ params, searchParams }: PageProps<"/assets/[assetId]">) {
  const { viewer } = await openPageOnce();
  const assetId = decodePathParam((await params).assetId);
  const connection = getTextParam(await searchParams, "connection");
  const asset = withRequestTime(getAssetOnce(assetId, connection), toAssetDetail);
  return (
    <PageMessages messages={await pickMessages("assets", "viewer", "sharing")}>
      <Suspense fallback={<PageSkeleton page="assets" layout="split" />}>
        <AssetScreen key={assetId} assetId={assetId} connection={connection} canChange={viewer.can("operator")} asset={asset} />
      </Suspense>
    </PageMessages>
  );
}
