import { useTranslations } from "next-intl";
import { useRef } from "react";
import useSWR from "swr";
import { useIsNearViewport } from "@/components/ui/hooks/use-media";
import { Truncated } from "@/components/ui/truncated";
import { callApi } from "@/lib/browser/api";
import { withQuery } from "@/lib/browser/urls";
import { collectInputs, type JobInputs } from "@/lib/contract/jobs/job-inputs";
import { type JsonObject } from "@/lib/contract/json/json";
import { createLimiter } from "@/lib/shared/async";

/** The value of a node's input. The job's details load when the cell is near the viewport, and are shared by all value columns. */
export function ValueCell({ id, connection, node, input }: { id: string; connection: string | undefined; node: string; input: string }) {
  const t = useTranslations("jobList");
  const cell = useRef<HTMLSpanElement>(null);
  const isNearViewport = useIsNearViewport(cell);
  const path = getJobPath(id, connection);
  const { data, error } = useSWR(isNearViewport ? ["inputs", path] : null, () => fetchInputs(path), {
    // Submitted inputs never change.
    revalidateIfStale: false,
    revalidateOnFocus: false,
    revalidateOnReconnect: false,
  });
  const value = data?.get(node)?.get(input);
  return (
    <span ref={cell} className="relative block" title={error ? t("valueFailed") : undefined}>
      {value === undefined ? data || error ? t("nothing") : " " : <Truncated text={value} />}
    </span>
  );
}

const limitRequests = createLimiter(4);

export function fetchJobInputs(id: string, connection: string | undefined): Promise<JobInputs> {
  return fetchInputs(getJobPath(id, connection));
}

function getJobPath(id: string, connection: string | undefined): `/${string}` {
  return withQuery(`/api/jobs/${encodeURIComponent(id)}`, { connection });
}

function fetchInputs(path: `/${string}`): Promise<JobInputs> {
  return limitRequests(async () => {
    const result = await callApi<{ workflow?: JsonObject }>(path);
    if (!result.ok) throw result.failure;
    return collectInputs(result.value.workflow);
  });
}
