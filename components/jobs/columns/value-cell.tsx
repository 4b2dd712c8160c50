import { useTranslations } from "next-intl";
import { useEffect, useRef, useState } from "react";
import useSWR from "swr";
import { Truncated } from "@/components/ui/truncated";
import { callApi } from "@/lib/browser/api";
import { withQuery } from "@/lib/browser/urls";
import { collectInputs, type JobInputs } from "@/lib/contract/jobs/job-inputs";
import { type JsonObject } from "@/lib/contract/json/json";
import { createLimiter } from "@/lib/shared/async";

/** The value of a node's input. The job's details load once the cell is visible, and once for all value columns. */
export function ValueCell({ id, connection, node, input }: { id: string; connection: string | undefined; node: string; input: string }) {
  const t = useTranslations("jobList");
  const cell = useRef<HTMLSpanElement>(null);
  const [wasSeen, setSeen] = useState(false);
  useEffect(() => {
    const element = cell.current;
    if (!element || wasSeen) return;
    const observer = new IntersectionObserver((entries) => {
      if (entries.some((entry) => entry.isIntersecting)) setSeen(true);
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, [wasSeen]);
  const path = getPath(id, connection);
  const { data, error } = useSWR(wasSeen ? ["inputs", path] : null, () => readInputs(path), {
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

const limiter = createLimiter(4);

export function readJobInputs(id: string, connection: string | undefined): Promise<JobInputs> {
  return readInputs(getPath(id, connection));
}

function getPath(id: string, connection: string | undefined): `/${string}` {
  return withQuery(`/api/jobs/${encodeURIComponent(id)}`, { connection });
}

function readInputs(path: `/${string}`): Promise<JobInputs> {
  return limiter(async () => {
    const result = await callApi<{ workflow?: JsonObject }>(path);
    if (!result.ok) throw result.failure;
    return collectInputs(result.value.workflow);
  });
}
