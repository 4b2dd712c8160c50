import { type ReadWorkflow } from "@/components/viewer/viewer-item";
import { callApi } from "@/lib/browser/api";
import { withQuery } from "@/lib/browser/urls";
import { type JobDetail } from "@/lib/contract/schemas/job";
import { ok } from "@/lib/shared/result";

export function workflowsOf(connectionId: string | undefined): ReadWorkflow {
  return async (jobId) => {
    const job = await callApi<JobDetail>(withQuery(`/api/jobs/${encodeURIComponent(jobId)}`, { connection: connectionId }));
    return job.ok ? ok(job.value.workflow) : job;
  };
}
