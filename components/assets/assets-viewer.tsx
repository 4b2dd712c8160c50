import { useTranslations } from "next-intl";
import { useEffect } from "react";
import useSWRImmutable from "swr/immutable";
import { formatFailure } from "@/components/frame/failure/failure-message";
import { showToast } from "@/components/ui/toast-store";
import { Compare } from "@/components/viewer/compare";
import { MAX_COMPARED, type ReadWorkflow, type useViewing, type ViewerItem } from "@/components/viewer/use-viewing";
import { Viewer } from "@/components/viewer/viewer";
import { callApi } from "@/lib/browser/api";
import { type ApiFailure } from "@/lib/browser/api-failure";
import { toShortId, withQuery } from "@/lib/browser/urls";
import { type Asset } from "@/lib/contract/schemas/asset";
import { type JobDetail } from "@/lib/contract/schemas/job";
import { type AssetView, toAssetView } from "@/lib/contract/views/asset-view";
import { ok, type Result } from "@/lib/shared/result";
import { getAssetFileUrl, getAssetHref, getAssetPath, getAssetThumbnailUrl, useAsset, useServesFiles } from "./asset-api";
import { type AssetsSource } from "./gallery/chunk-store";

type AssetContext = { connectionId?: string; connection?: string };
type AssetsViewerProps = AssetContext & {
  source: AssetsSource;
  viewing: ReturnType<typeof useViewing>;
  onCompare: (ids: readonly string[]) => void;
  isCovered: boolean;
};

/** Number of assets to preload in each direction. */
const PRELOAD_COUNT = 12;

/** Shows the filtered list one asset at a time. A linked asset that is not in the list is shown alone. */
export function AssetsViewer({ source, viewing, onCompare, isCovered, ...context }: AssetsViewerProps) {
  const errors = useTranslations("errors");
  const { request, count } = source;
  const { at, id, close } = viewing;
  const isSingle = at === undefined;
  const singleAsset = useAsset({ id: id ?? "", connectionId: isSingle && id !== undefined ? context.connectionId : undefined });
  const getAsset = (index: number) => (isSingle ? singleAsset.asset : source.at(index));
  const shownAsset = getAsset(at ?? 0);
  const canDownload = useServesFiles(context.connectionId, shownAsset && getAssetFileUrl(shownAsset, context.connectionId));
  useEffect(() => {
    if (at !== undefined) request(Math.max(0, at - PRELOAD_COUNT), Math.min(count, at + PRELOAD_COUNT), "full view");
  }, [request, at, count]);
  useEffect(() => () => request(0, 0, "full view"), [request]);
  const { failure } = singleAsset;
  const isUnavailable = isSingle && failure !== undefined && !singleAsset.asset && !isCovered;
  useEffect(() => {
    if (!isUnavailable) return;
    showToast({ tone: "bad", text: formatFailure(errors, failure) });
    close();
  }, [isUnavailable, failure, errors, close]);
  // The dialog stays open throughout, since reopening it would cover a comparison above it.
  return (
    <Viewer
      count={isSingle ? 1 : count}
      index={at ?? 0}
      getItem={(index) => {
        const asset = getAsset(index);
        return asset && toViewerItem(asset, context);
      }}
      onMove={isSingle ? noop : viewing.move}
      onClose={close}
      onCompare={isSingle ? undefined : onCompare}
      isCovered={isCovered}
      canDownload={canDownload}
      shareConnectionId={canDownload ? context.connectionId : undefined}
    />
  );
}

const noop = () => undefined;

type AssetsCompareProps = {
  /** The ids in the URL, separated by commas. */
  idList: string;
  /** Finds an asset that is already loaded. */
  findAsset: (id: string) => AssetView | undefined;
  connectionId?: string;
  connection?: string;
  onClose: () => void;
};

/** Compares the assets in the URL side by side. Assets that fail to load are reported and omitted. */
export function AssetsCompare({ idList, findAsset, connectionId, connection, onClose }: AssetsCompareProps) {
  const errors = useTranslations("errors");
  const t = useTranslations("viewer.comparing");
  const ids = [...new Set(idList.split(","))].slice(0, MAX_COMPARED);
  const { data, mutate } = useSWRImmutable(
    connectionId === undefined ? null : ["assets.compared", connectionId, ...ids],
    () =>
      Promise.all(
        ids.map(async (id): Promise<Result<AssetView, ApiFailure>> => {
          const asset = findAsset(id);
          return asset ? ok(asset) : await fetchAsset(id, connectionId);
        }),
      ),
    // Reopening must not reuse an earlier response, which may be a failure.
    { dedupingInterval: 0 },
  );
  const assets = data?.flatMap((result) => (result.ok ? [result.value] : []));
  const [failure] = data?.flatMap((result) => (result.ok ? [] : [result.failure])) ?? [];
  const failedCount = failure && assets ? ids.length - assets.length : 0;
  const canCompare = assets === undefined || assets.length > 1;
  useEffect(() => {
    if (failure) showToast({ tone: "bad", text: `${t("lost", { count: failedCount })} ${formatFailure(errors, failure)}` });
    if (!canCompare) onClose();
  }, [failure, failedCount, canCompare, t, errors, onClose]);
  const hasFailed = failure !== undefined;
  useEffect(() => {
    // Drops a failed response, so that reopening requests it again.
    if (hasFailed) return () => void mutate(undefined, { revalidate: false });
  }, [hasFailed, mutate]);
  if (!assets || !canCompare) return null;
  const items = assets.map((asset) => toViewerItem(asset, { connectionId, connection }));
  return <Compare items={items} readWorkflow={createWorkflowReader(connectionId)} onClose={onClose} />;
}

async function fetchAsset(id: string, connection: string | undefined): Promise<Result<AssetView, ApiFailure>> {
  const result = await callApi<Asset>(getAssetPath(id, connection));
  return result.ok ? ok(toAssetView(result.value)) : result;
}

function createWorkflowReader(connectionId: string | undefined): ReadWorkflow {
  return async (jobId) => {
    const job = await callApi<JobDetail>(withQuery(`/api/jobs/${encodeURIComponent(jobId)}`, { connection: connectionId }));
    return job.ok ? ok(job.value.workflow) : job;
  };
}

function toViewerItem(asset: AssetView, { connectionId, connection }: { connectionId?: string; connection?: string }): ViewerItem {
  return {
    id: asset.id,
    name: asset.name,
    kind: asset.kind,
    src: getAssetFileUrl(asset, connectionId),
    poster: getAssetThumbnailUrl(asset, 512, { connection: connectionId }),
    width: asset.width,
    height: asset.height,
    sizeBytes: asset.sizeBytes,
    href: getAssetHref(asset.id, connection),
    ...(asset.jobId !== undefined && { jobId: asset.jobId, note: toShortId(asset.jobId) }),
  };
}
