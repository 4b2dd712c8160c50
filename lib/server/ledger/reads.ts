// What the ledger's reader asks a service for, and how large the outputs of jobs are: read in idle time, for jobs submitted here.
// Guarantees: a service without this operation is not asked again by this process; sizes it does not tell stay
// unknown, and incomplete ones are marked.

import "server-only";
import { type Failure, lacksOperation } from "@/lib/contract/failure";
import { numberOf, objectOf } from "@/lib/contract/json/json";
import { type AnswerOf } from "@/lib/contract/operation";
import { type operations } from "@/lib/contract/operations";
import { type JobsAnswer } from "@/lib/contract/schemas/job";
import { type Result } from "@/lib/shared/result";
import { type JobUsageStore } from "../store/jobs/job-usage";
import { type CallInput } from "../upstream/outgoing";

export type LedgerRead = {
  jobs(input: CallInput): Promise<Result<JobsAnswer, Failure>>;
  /** A job's outputs, with sizes. Only for the service in this process. */
  assets?(input: CallInput): Promise<Result<AnswerOf<typeof operations.listJobAssets>, Failure>>;
};
type ReadAssets = NonNullable<LedgerRead["assets"]>;

const JOBS_A_STEP = 2;
const PAGE = 500;
const MOST_PAGES = 4;
const ofTheJob: readonly number[] = [400, 403, 404, 410, 422];

export function createSizeReader(usage: JobUsageStore) {
  const silent = new Set<string>();
  /** Answers a failure that is not the job's own; undefined if there is nothing to ask. */
  return async (connectionId: string, read: ReadAssets, signal: AbortSignal): Promise<Failure | "done" | undefined> => {
    const jobs = silent.has(connectionId) ? [] : await usage.unsized(connectionId, JOBS_A_STEP);
    for (const { jobId, outputs } of jobs) {
      const { failure, ...size } = await sizeOf(jobId, read, signal);
      if (failure && lacksOperation(failure)) return void silent.add(connectionId);
      if (failure && !ofTheJob.includes(failure.status)) return failure;
      // A text is an output but no file: with fewer files than outputs, the size counts as incomplete.
      await usage.setSize(connectionId, jobId, { bytes: size.bytes, isPart: size.isPart || size.files < outputs });
    }
    return jobs.length > 0 ? "done" : undefined;
  };
}

type Size = { bytes: number | undefined; files: number; isPart: boolean; failure?: Failure };

async function sizeOf(jobId: string, read: ReadAssets, signal: AbortSignal): Promise<Size> {
  const size: Size = { bytes: undefined, files: 0, isPart: false };
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const answer = await read({ params: { job_id: jobId }, query: { limit: PAGE, offset: size.files }, signal });
    if (!answer.ok) return { ...size, failure: answer.failure };
    const sizes = answer.value.assets.map((asset) => numberOf(objectOf(asset)?.size));
    for (const bytes of sizes) {
      if (bytes === undefined) size.isPart = true;
      else size.bytes = (size.bytes ?? 0) + bytes;
    }
    size.files += sizes.length;
    const { has_more: hasMore, total } = answer.value.pagination ?? {};
    if (sizes.length === 0 || !(hasMore ?? (total !== undefined && size.files < total))) return size;
  }
  return { ...size, isPart: true };
}
