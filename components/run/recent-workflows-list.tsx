"use client";

import { useTranslations } from "next-intl";
import useSWR from "swr";
import { FailureMessage } from "@/components/frame/failure-message";
import { Button } from "@/components/ui/button";
import { Skeleton } from "@/components/ui/skeleton";
import { type Failure } from "@/lib/contract/failure";
import { type RecentPorts, recentPictureWorkflows, type RecentWorkflow } from "./recent-workflows";
import { type OpenedFile } from "./run-state";

type RecentWorkflowsProps = { connection?: string; ports: RecentPorts; onOpen: (file: OpenedFile) => void };

/** What was run lately and takes a picture: most pictures are wanted in a workflow that is in use already. */
export function RecentWorkflows({ connection, ports, onOpen }: RecentWorkflowsProps) {
  const t = useTranslations("run");
  const read = async () => {
    const found = await recentPictureWorkflows(ports);
    if (!found.ok) throw found.failure;
    return found.value;
  };
  const options = { shouldRetryOnError: false, revalidateOnFocus: false };
  const { data, error, mutate } = useSWR<RecentWorkflow[], Failure>(["run.recent", connection], read, options);
  return (
    <section aria-labelledby="recent-workflows">
      <h2 id="recent-workflows" className="font-semibold">
        {t("recent.title")}
      </h2>
      <div className="mt-2.5">
        {!data && !error ? <Skeleton className="h-[30px] w-full" /> : null}
        {error ? <FailureMessage failure={error} onRetry={() => void mutate()} /> : null}
        {data?.length === 0 ? <p className="text-ink-2">{t("recent.none")}</p> : null}
        <ul className="flex flex-wrap gap-2 empty:hidden">
          {data?.map(({ jobId, file }) => (
            <li key={jobId} className="max-w-full">
              <Button onClick={() => onOpen(file)} title={jobId} className="max-w-full">
                <span className="truncate">{file.name || t("pasted")}</span>
              </Button>
            </li>
          ))}
        </ul>
      </div>
    </section>
  );
}
