import { useTranslations } from "next-intl";
import useSWR from "swr";
import { FailureMessage } from "@/components/frame/failure/failure-message";
import { type OpenedFile } from "@/components/run/workflow/opened";
import { Button } from "@/components/ui/controls/button";
import { Skeleton } from "@/components/ui/skeleton";
import { type Failure } from "@/lib/contract/failure";
import { type JobsAnswer } from "@/lib/contract/schemas/job";
import { failed, ok, type Result } from "@/lib/shared/result";
import { pictureInputsOf } from "../picture-inputs";
import { type ArrivalPorts, openArrival } from "./arrivals";

/** At most this many job details are read, as each holds a whole graph. */
const MOST_READ = 6;

type RecentWorkflow = { jobId: string; file: OpenedFile };
type RecentPorts = ArrivalPorts & { recentJobs: () => Promise<Result<JobsAnswer, Failure>> };

async function recentPictureWorkflows(ports: RecentPorts): Promise<Result<RecentWorkflow[], Failure>> {
  const answer = await ports.recentJobs();
  if (!answer.ok) return answer;
  const newest = new Map<string, string>();
  for (const { id, workflow_id: workflow = id } of answer.value.jobs) if (!newest.has(workflow)) newest.set(workflow, id);
  const found: RecentWorkflow[] = [];
  for (const jobId of [...newest.values()].slice(0, MOST_READ)) {
    const opened = await openArrival({ job: jobId }, ports);
    if (!opened.ok && opened.failure.reason.code === "unread") return failed(opened.failure.reason.failure);
    if (opened.ok && pictureInputsOf(opened.value).length > 0) found.push({ jobId, file: opened.value });
  }
  return ok(found);
}

type RecentWorkflowsProps = { connection?: string; ports: RecentPorts; onOpen: (file: OpenedFile) => void };

/** Recently run workflows that take a picture: most pictures are meant for a workflow that is already in use. */
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
