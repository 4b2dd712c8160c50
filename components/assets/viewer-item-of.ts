import { type ViewerItem } from "@/components/viewer/use-viewing";
import { type AssetView } from "@/lib/contract/views/asset-view";
import { assetFileUrl, assetHref, pictureUrl, shortJob } from "./asset-urls";

export function toViewerItem(asset: AssetView, { connectionId, connection }: { connectionId?: string; connection?: string }): ViewerItem {
  return {
    id: asset.id,
    name: asset.name,
    kind: asset.kind,
    src: assetFileUrl(asset, connectionId),
    poster: pictureUrl(asset, 512, { connection: connectionId }),
    width: asset.width,
    height: asset.height,
    sizeBytes: asset.sizeBytes,
    href: assetHref(asset.id, connection),
    ...(asset.jobId !== undefined && { jobId: asset.jobId, note: shortJob(asset.jobId) }),
  };
}
