import { Suspense } from "react";
import { createConsolePage, withRequestTime } from "@/app/(console)/console-page";
import { PageSkeleton } from "@/components/frame/page-skeleton";
import { MaskScreen } from "@/components/mask/mask-screen";
import { toAssetView } from "@/lib/contract/views/asset-view";
import { createPageTitle } from "@/lib/server/i18n/messages";
import { getAsset } from "@/lib/server/queries/assets";

export const generateMetadata = createPageTitle("masks.title");

export default createConsolePage(["assets", "masks"], (context, { getSegment, connection }) => {
  const assetId = getSegment("assetId");
  const asset = withRequestTime(getAsset(context, assetId, connection), toAssetView);
  return (
    <Suspense fallback={<PageSkeleton page="masks" layout="whole" />}>
      <MaskScreen key={assetId} assetId={assetId} connection={connection} canSave={context.viewer.can("operator")} asset={asset} />
    </Suspense>
  );
});
