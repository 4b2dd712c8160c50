import { useTranslations } from "next-intl";
import { useEffect } from "react";
import useSWRImmutable from "swr/immutable";
import { failureText } from "@/components/frame/failure/failure-text";
import { showToast } from "@/components/ui/toast-store";
import { Compare } from "@/components/viewer/compare";
import { MOST_COMPARED, type ReadWorkflow } from "@/components/viewer/use-viewing";
import { callApi } from "@/lib/browser/api";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { withQuery } from "@/lib/browser/urls";
import { type Asset } from "@/lib/contract/schemas/asset";
import { type JobDetail } from "@/lib/contract/schemas/job";
import { type AssetView, toAssetView } from "@/lib/contract/views/asset-view";
import { ok, type Result } from "@/lib/shared/result";
import { assetPath } from "./asset-calls";
import { toViewerItem } from "./viewer-item-of";

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
  const ids = [...new Set(named.split(","))].slice(0, MOST_COMPARED);
  const { data, mutate } = useSWRImmutable(
    connectionId === undefined ? null : ["assets.compared", connectionId, ...ids],
    () =>
      Promise.all(
        ids.map(async (id): Promise<Result<AssetView, ApiFailure>> => {
          const known = find(id);
          return known ? ok(known) : await readAsset(id, connectionId);
        }),
      ),
    // Reopening must not reuse an earlier answer, which may be a failure.
    { dedupingInterval: 0 },
  );
  const found = data?.flatMap((read) => (read.ok ? [read.value] : []));
  const [failure] = data?.flatMap((read) => (read.ok ? [] : [read.failure])) ?? [];
  const lost = failure && found ? ids.length - found.length : 0;
  const isPossible = found === undefined || found.length > 1;
  useEffect(() => {
    if (failure) showToast({ tone: "bad", text: `${t("lost", { count: lost })} ${failureText(errors, failure)}` });
    if (!isPossible) onClose();
  }, [failure, lost, isPossible, t, errors, onClose]);
  const hasFailed = failure !== undefined;
  useEffect(() => {
    // Drops a failed answer, so that opening it again asks again.
    if (hasFailed) return () => void mutate(undefined, { revalidate: false });
  }, [hasFailed, mutate]);
  if (!found || !isPossible) return null;
  const items = found.map((asset) => toViewerItem(asset, { connectionId, connection }));
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
