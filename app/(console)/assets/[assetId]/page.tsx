import { type Metadata } from "next";
import { getTranslations } from "next-intl/server";
import { Suspense } from "react";
import { stamp } from "@/app/(console)/stamp";
import { AssetScreen } from "@/components/assets/asset-screen";
import { AssetSkeleton } from "@/components/assets/assets-skeleton";
import { PageMessages } from "@/components/frame/page-messages";
import { toAssetDetail } from "@/lib/contract/asset-view";
import { hasRole } from "@/lib/contract/roles";
import { requireViewer } from "@/lib/server/auth/viewer";
import { pickMessages } from "@/lib/server/i18n/pick-messages";
import { getAsset } from "@/lib/server/queries/assets";
import { pathParam, textParam } from "@/app/(console)/jobs/jobs-query";

export async function generateMetadata(): Promise<Metadata> {
  return { title: (await getTranslations("assets"))("title") };
}

export default async function AssetPage({ params, searchParams }: PageProps<"/assets/[assetId]">) {
  const viewer = await requireViewer();
  const assetId = pathParam((await params).assetId);
  const connection = textParam(await searchParams, "connection");
  const asset = stamp(getAsset(viewer, assetId, connection), toAssetDetail);
  return (
    <PageMessages messages={await pickMessages("assets", "viewer")}>
      <Suspense fallback={<AssetSkeleton />}>
        <AssetScreen key={assetId} assetId={assetId} connection={connection} canChange={hasRole(viewer.role, "operator")} asset={asset} />
      </Suspense>
    </PageMessages>
  );
}
