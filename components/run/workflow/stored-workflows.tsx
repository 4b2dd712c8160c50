import { useTranslations } from "next-intl";
import { useState } from "react";
import { FailureMessage } from "@/components/frame/failure/failure-message";
import { Button } from "@/components/ui/controls/button";
import { Input } from "@/components/ui/controls/fields";
import { Skeleton } from "@/components/ui/skeleton";
import { RelativeTime } from "@/components/ui/time";
import { type ApiFailure } from "@/lib/browser/api-failure";
import { useRead } from "@/lib/browser/use-read";
import { toMilliseconds } from "@/lib/contract/times";
import { failed, ok, type Result } from "@/lib/shared/result";
import { type OpenedFile } from "./opened-workflow";
import { findPictureInputs } from "./pending-images-note";
import { openRunSource } from "./run-sources";
import { type WorkflowApi } from "./workflow-api";

const MAX_FILES_SHOWN = 100;
const MIN_FILES_FOR_SEARCH = 10;

type StoredFile = Extract<Awaited<ReturnType<WorkflowApi["listStored"]>>, { ok: true }>["value"][number];
type StoredFilesProps = { connection?: string; listStored: WorkflowApi["listStored"]; onOpen: (path: string) => void };

/** Workflows stored at the service, loaded on click since most users open their own file. */
export function StoredFiles({ connection, listStored, onOpen }: StoredFilesProps) {
  const t = useTranslations("run.stored");
  const [isRequested, setRequested] = useState(false);
  const [search, setSearch] = useState("");
  const { data, error, mutate } = useRead(isRequested && ["run.stored", connection], listStored);
  const matchingFiles = (data ?? []).filter(
    ({ path }) => /\.json$/i.test(path) && path.toLowerCase().includes(search.trim().toLowerCase()),
  );
  return (
    <section aria-labelledby="stored-files">
      <h2 id="stored-files" className="font-semibold">
        {t("title")}
        <span className="ml-2 font-normal text-ink-3 max-sm:ml-0 max-sm:block">{t("note")}</span>
      </h2>
      <div className="mt-2.5">
        {!isRequested ? <Button onClick={() => setRequested(true)}>{t("show")}</Button> : null}
        {isRequested && !data && !error ? <Skeleton className="h-[46px] w-full" /> : null}
        {error ? <FailureMessage failure={error} onRetry={() => void mutate()} /> : null}
        {data && data.length > MIN_FILES_FOR_SEARCH ? (
          <Input
            type="search"
            aria-label={t("search")}
            placeholder={t("search")}
            value={search}
            onChange={({ target }) => setSearch(target.value)}
            className="mb-2 max-w-80"
          />
        ) : null}
        {data && matchingFiles.length === 0 ? <p className="text-ink-2">{t(search.trim() === "" ? "none" : "noneFound")}</p> : null}
        {matchingFiles.length > 0 ? (
          <ul className="max-h-80 divide-y divide-line overflow-y-auto rounded-lg border border-line bg-surface">
            {matchingFiles.slice(0, MAX_FILES_SHOWN).map((file) => (
              <StoredFileItem key={file.path} file={file} onOpen={onOpen} />
            ))}
          </ul>
        ) : null}
        {matchingFiles.length > MAX_FILES_SHOWN ? (
          <p className="mt-1.5 text-ink-2">{t("more", { count: matchingFiles.length - MAX_FILES_SHOWN })}</p>
        ) : null}
      </div>
    </section>
  );
}

function StoredFileItem({ file, onOpen }: { file: StoredFile; onOpen: StoredFilesProps["onOpen"] }) {
  const modifiedMs = toMilliseconds(file.modified);
  return (
    <li>
      <button
        type="button"
        onClick={() => onOpen(file.path)}
        className="flex min-h-[38px] w-full items-center gap-3 px-3.5 py-1.5 text-left hover:bg-bg"
      >
        <span className="min-w-0 flex-1 truncate font-mono text-sm" title={file.path}>
          {file.path.replace(/^workflows\//, "")}
        </span>
        {modifiedMs === undefined ? null : <RelativeTime ms={modifiedMs} className="text-sm whitespace-nowrap text-ink-3" />}
      </button>
    </li>
  );
}

/** Maximum number of job details to read, since each contains a full graph. */
const MAX_JOBS_READ = 6;

type RecentWorkflow = { jobId: string; file: OpenedFile };

async function fetchRecentPictureWorkflows(api: WorkflowApi): Promise<Result<RecentWorkflow[], ApiFailure>> {
  const result = await api.listRecentJobs();
  if (!result.ok) return result;
  const newestJobIds = new Map<string, string>();
  for (const { id, workflow_id: workflowId = id } of result.value.jobs) if (!newestJobIds.has(workflowId)) newestJobIds.set(workflowId, id);
  const recentWorkflows: RecentWorkflow[] = [];
  for (const jobId of [...newestJobIds.values()].slice(0, MAX_JOBS_READ)) {
    const openResult = await openRunSource({ job: jobId }, api);
    if (!openResult.ok && openResult.failure.reason.code === "unread") return failed(openResult.failure.reason.failure);
    if (openResult.ok && findPictureInputs(openResult.value).length > 0) recentWorkflows.push({ jobId, file: openResult.value });
  }
  return ok(recentWorkflows);
}

type RecentWorkflowsProps = { connection?: string; api: WorkflowApi; onOpen: (file: OpenedFile) => void };

/** Recently run workflows with a picture input, since most pictures are for a workflow already in use. */
export function RecentWorkflows({ connection, api, onOpen }: RecentWorkflowsProps) {
  const t = useTranslations("run");
  const { data, error, mutate } = useRead(["run.recent", connection], () => fetchRecentPictureWorkflows(api));
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
