// The workflows of the newest jobs that take a picture, for pictures that came to be used in a run.
// Guarantees: bounded, one question after another; an outage is told, never an empty list; a job that is gone, or was started with something
// that cannot be opened, is left out.

import { type Failure } from "@/lib/contract/failure";
import { type JobsAnswer } from "@/lib/contract/schemas/job";
import { failed, ok, type Result } from "@/lib/shared/result";
import { type ArrivalPorts, openArrival } from "./arrivals";
import { pictureInputsOf } from "./picture-inputs";
import { type OpenedFile } from "./run-state";

/** As many details are read: each holds a whole graph. */
const MOST_READ = 6;

export type RecentWorkflow = { jobId: string; file: OpenedFile };
export type RecentPorts = ArrivalPorts & { recentJobs: () => Promise<Result<JobsAnswer, Failure>> };

export async function recentPictureWorkflows(ports: RecentPorts): Promise<Result<RecentWorkflow[], Failure>> {
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
