import { type Metadata } from "next";
import { getTranslations } from "next-intl/server";
import { cache, Suspense } from "react";
import { pathParam, textParam } from "@/app/(console)/params";
import { stamp } from "@/app/(console)/stamp";
import { AssetScreen } from "@/components/assets/asset-screen";
import { AssetSkeleton } from "@/components/assets/assets-skeleton";
import { PageMessages } from "@/components/frame/page-header";
import { toAssetDetail } from "@/lib/contract/views/asset-view";
import { openPage } from "@/lib/server/bff/open-page";
import { pickMessages } from "@/lib/server/i18n/messages";
import { getAsset } from "@/lib/server/queries/assets";
import { withTimeout } from "@/lib/shared/async";

/** How long the title waits for the asset's name: a service that does not answer must not hold it up. */
const TITLE_MS = 1_000;

const pageOnce = cache(openPage);
/** The title and the page share one read of the asset. */
const assetOnce = cache(async (assetId: string, connection: string | undefined) => getAsset(await pageOnce(), assetId, connection));

export async function generateMetadata({ params, searchParams }: PageProps<"/assets/[assetId]">): Promise<Metadata> {
  const t = await getTranslations("assets");
  const assetId = pathParam((await params).assetId);
  const asset = await withTimeout(assetOnce(assetId, textParam(await searchParams, "connection")), TITLE_MS, () => undefined);
  return { title: asset?.ok ? toAssetDetail(asset.value).name : t("title") };
}

export default async function AssetPage({ params, searchParams }: PageProps<"/assets/[assetId]">) {
  const { viewer } = await pageOnce();
  const assetId = pathParam((await params).assetId);
  const connection = textParam(await searchParams, "connection");
  const asset = stamp(assetOnce(assetId, connection), toAssetDetail);
  return (
    <PageMessages messages={await pickMessages("assets", "viewer", "sharing")}>
      <Suspense fallback={<AssetSkeleton />}>
        <AssetScreen key={assetId} assetId={assetId} connection={connection} canChange={viewer.can("operator")} asset={asset} />
      </Suspense>
    </PageMessages>
  );
}
