import "server-only";
import { type Failure } from "@/lib/contract/failure";
import { type JobDetail, type JobsAnswer, type JobsQuery, type JobStatus } from "@/lib/contract/schemas/job";
import { type Result } from "@/lib/shared/result";
import { type Viewer } from "../auth/viewer";

export async function listJobs(_viewer: Viewer, _query: JobsQuery, _connection?: string): Promise<Result<JobsAnswer, Failure>> {
  throw new Error("comes next");
}

export async function getJob(
  _viewer: Viewer,
  _jobId: string,
  _connection?: string,
): Promise<Result<{ detail: JobDetail; status?: JobStatus }, Failure>> {
  throw new Error("comes next");
}
