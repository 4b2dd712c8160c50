import { useTranslations } from "next-intl";
import { useEffect } from "react";
import useSWRImmutable from "swr/immutable";
import { failureText } from "@/components/frame/failure/fault-owner";
import { showToast } from "@/components/ui/toast-store";
import { Compare } from "@/components/viewer/compare";
import { MAX_COMPARED, type ReadWorkflow, type useViewing, type ViewerItem } from "@/components/viewer/use-viewing";
import { Viewer } from "@/components/viewer/viewer";
import { callApi } from "@/lib/browser/api";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { shortId, withQuery } from "@/lib/browser/urls";
import { type Asset } from "@/lib/contract/schemas/asset";
import { type JobDetail } from "@/lib/contract/schemas/job";
import { type AssetView, toAssetView } from "@/lib/contract/views/asset-view";
import { ok, type Result } from "@/lib/shared/result";
import { assetPath, useAsset } from "./asset-calls";
import { assetFileUrl, assetHref, pictureUrl, useHandsOutFiles } from "./asset-urls";
import { type AssetsSource } from "./gallery/chunk-store";

type Where = { connectionId?: string; connection?: string };
type AssetsViewerProps = Where & {
  source: AssetsSource;
  viewing: ReturnType<typeof useViewing>;
  onCompare: (ids: readonly string[]) => void;
  isCovered: boolean;
};

/** The next assets are loaded this far ahead. */
const AHEAD = 12;

/** Shows the whole filtered list, one asset at a time; an asset that a link names but the list lacks is shown alone. */
export function AssetsViewer({ source, viewing, onCompare, isCovered, ...where }: AssetsViewerProps) {
  const errors = useTranslations("errors");
  const { request, count } = source;
  const { at, id, close } = viewing;
  const isAlone = at === undefined;
  const singleAsset = useAsset({ id: id ?? "", connectionId: isAlone && id !== undefined ? where.connectionId : undefined });
  const assetAt = (index: number) => (isAlone ? singleAsset.asset : source.at(index));
  const shownAsset = assetAt(at ?? 0);
  const canDownload = useHandsOutFiles(where.connectionId, shownAsset && assetFileUrl(shownAsset, where.connectionId));
  useEffect(() => {
    if (at !== undefined) request(Math.max(0, at - AHEAD), Math.min(count, at + AHEAD), "full view");
  }, [request, at, count]);
  useEffect(() => () => request(0, 0, "full view"), [request]);
  const { failure } = singleAsset;
  const isLost = isAlone && failure !== undefined && !singleAsset.asset && !isCovered;
  useEffect(() => {
    if (!isLost) return;
    showToast({ tone: "bad", text: failureText(errors, failure) });
    close();
  }, [isLost, failure, errors, close]);
  // The dialog stays open throughout, since reopening it would cover a comparison above it.
  return (
    <Viewer
      count={isAlone ? 1 : count}
      at={at ?? 0}
      itemAt={(index) => {
        const asset = assetAt(index);
        return asset && toViewerItem(asset, where);
      }}
      onMove={isAlone ? stay : viewing.move}
      onClose={close}
      onCompare={isAlone ? undefined : onCompare}
      isCovered={isCovered}
      canDownload={canDownload}
      shareConnectionId={canDownload ? where.connectionId : undefined}
    />
  );
}

const stay = () => undefined;

type AssetsCompareProps = {
  /** The ids as the address has them. */
  named: string;
  /** The assets that are loaded already. */
  find: (id: string) => AssetView | undefined;
  connectionId?: string;
  connection?: string;
  onClose: () => void;
};

/** The pictures named by an address, side by side; missing ones are loaded, and one that cannot be loaded is reported and left out. */
export function AssetsCompare({ named, find, connectionId, connection, onClose }: AssetsCompareProps) {
  const errors = useTranslations("errors");
  const t = useTranslations("viewer.comparing");
  const ids = [...new Set(named.split(","))].slice(0, MAX_COMPARED);
  const { data, mutate } = useSWRImmutable(
    connectionId === undefined ? null : ["assets.compared", connectionId, ...ids],
    () =>
      Promise.all(
        ids.map(async (id): Promise<Result<AssetView, ApiFailure>> => {
          const asset = find(id);
          return asset ? ok(asset) : await readAsset(id, connectionId);
        }),
      ),
    // Reopening must not reuse an earlier response, which may be a failure.
    { dedupingInterval: 0 },
  );
  const assets = data?.flatMap((result) => (result.ok ? [result.value] : []));
  const [failure] = data?.flatMap((result) => (result.ok ? [] : [result.failure])) ?? [];
  const lostCount = failure && assets ? ids.length - assets.length : 0;
  const isPossible = assets === undefined || assets.length > 1;
  useEffect(() => {
    if (failure) showToast({ tone: "bad", text: `${t("lost", { count: lostCount })} ${failureText(errors, failure)}` });
    if (!isPossible) onClose();
  }, [failure, lostCount, isPossible, t, errors, onClose]);
  const hasFailed = failure !== undefined;
  useEffect(() => {
    // Drops a failed response, so that reopening requests it again.
    if (hasFailed) return () => void mutate(undefined, { revalidate: false });
  }, [hasFailed, mutate]);
  if (!assets || !isPossible) return null;
  const items = assets.map((asset) => toViewerItem(asset, { connectionId, connection }));
  return <Compare items={items} readWorkflow={workflowsOf(connectionId)} onClose={onClose} />;
}

async function readAsset(id: string, connection: string | undefined): Promise<Result<AssetView, ApiFailure>> {
  const result = await callApi<Asset>(assetPath(id, connection));
  return result.ok ? ok(toAssetView(result.value)) : result;
}

function workflowsOf(connectionId: string | undefined): ReadWorkflow {
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
    src: assetFileUrl(asset, connectionId),
    poster: pictureUrl(asset, 512, { connection: connectionId }),
    width: asset.width,
    height: asset.height,
    sizeBytes: asset.sizeBytes,
    href: assetHref(asset.id, connection),
    ...(asset.jobId !== undefined && { jobId: asset.jobId, note: shortId(asset.jobId) }),
  };
}
