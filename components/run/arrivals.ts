// A workflow that the console or the service holds, brought to the Run page: a past job, a stored user data file.
// Guarantees: an outcome, never an exception; what is opened went through the same reading as a dropped file.

import { type Failure } from "@/lib/contract/failure";
import { type JobDetail } from "@/lib/contract/schemas/job";
import { workflowName } from "@/lib/contract/workflow-name";
import { failed, type Result } from "@/lib/shared/result";
import { openWorkflow } from "./open-workflow";
import { type Refusal } from "./refusal";
import { type OpenedFile } from "./run-state";

const SHORT_ID = 8;

/** What /run was opened with: ?job=ID or ?file=workflows/x.json. */
export type Arrival = { job: string } | { file: string };

export type ArrivalPorts = {
  readJob: (id: string) => Promise<Result<JobDetail, Failure>>;
  readStored: (path: string) => Promise<Result<string, Failure>>;
};

export async function openArrival(arrival: Arrival, ports: ArrivalPorts): Promise<Result<OpenedFile, Refusal>> {
  return "job" in arrival ? openJob(arrival.job, ports) : openStored(arrival.file, ports);
}

async function openJob(id: string, { readJob }: ArrivalPorts): Promise<Result<OpenedFile, Refusal>> {
  const refuse = (reason: Refusal["reason"]) => failed({ fileName: id.slice(0, SHORT_ID), reason });
  const job = await readJob(id);
  if (!job.ok) return refuse(job.failure.status === 404 ? { code: "job_gone" } : { code: "unread", failure: job.failure });
  if (!job.value.workflow) return refuse({ code: "job_without_workflow" });
  // The name stands on the job; its own id keeps the new run beside the older ones.
  const opened = openWorkflow(JSON.stringify(job.value.workflow), undefined, {
    name: workflowName(job.value),
    workflowId: job.value.workflow_id,
  });
  return opened.ok ? opened : refuse(opened.failure.reason);
}

async function openStored(path: string, { readStored }: ArrivalPorts): Promise<Result<OpenedFile, Refusal>> {
  const fileName = path.slice(path.lastIndexOf("/") + 1);
  const text = await readStored(path);
  if (!text.ok)
    return failed({ fileName, reason: text.failure.status === 404 ? { code: "file_gone" } : { code: "unread", failure: text.failure } });
  return openWorkflow(text.value, fileName);
}
