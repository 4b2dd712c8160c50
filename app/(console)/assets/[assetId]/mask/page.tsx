import { type Metadata } from "next";
import { getTranslations } from "next-intl/server";
import { Suspense } from "react";
import { pathParam, textParam } from "@/app/(console)/params";
import { stamp } from "@/app/(console)/stamp";
import { PageMessages } from "@/components/frame/page-header";
import { MaskScreen } from "@/components/mask/mask-screen";
import { MaskSkeleton } from "@/components/mask/mask-skeleton";
import { toAssetView } from "@/lib/contract/views/asset-view";
import { openPage } from "@/lib/server/bff/open-page";
import { pickMessages } from "@/lib/server/i18n/messages";
import { getAsset } from "@/lib/server/queries/assets";

export async function generateMetadata(): Promise<Metadata> {
  return { title: (await getTranslations("masks"))("title") };
}

export default async function MaskPage({ params, searchParams }: PageProps<"/assets/[assetId]/mask">) {
  const context = await openPage();
  const assetId = pathParam((await params).assetId);
  const connection = textParam(await searchParams, "connection");
  const asset = stamp(getAsset(context, assetId, connection), toAssetView);
  return (
    <PageMessages messages={await pickMessages("assets", "masks")}>
      <Suspense fallback={<MaskSkeleton />}>
        <MaskScreen key={assetId} assetId={assetId} connection={connection} canSave={context.viewer.can("operator")} asset={asset} />
      </Suspense>
    </PageMessages>
  );
}
