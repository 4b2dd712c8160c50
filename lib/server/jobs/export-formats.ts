// The two files that a list of jobs can be saved as, piece by piece.
// Guarantees: both say at their end whether they hold everything, and if not why; the JSON is valid however it ended, and each line
// of the CSV has the same cells. Times are UTC in RFC 3339.

import "server-only";
import { type Failure } from "@/lib/contract/failure";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { submitterText } from "@/lib/contract/people/usage";
import { type JobListItem } from "@/lib/contract/schemas/job";
import { toJobView } from "@/lib/contract/views/job-view";
import { workflowName } from "@/lib/contract/workflow/workflow-name";
import { BYTE_ORDER_MARK, type Cell, csvLine } from "@/lib/shared/text";

/** `inputs`: the value of each requested input, in column order. Undefined where the job has none. */
export type ExportedJob = { job: JobListItem; inputs: readonly { name: string; value: string | undefined }[] };
/** `inputs`: the number of input columns. */
type ExportEnd = { count: number; inputs: number; total: number | undefined; failure: Failure | undefined };
type ExportFormat = {
  type: string;
  head(about: { exportedAt: string; total: number | undefined; inputs: readonly string[] }): string;
  /** `isFirst`: nothing was written before these. */
  body(jobs: readonly ExportedJob[], isFirst: boolean): string;
  end(about: ExportEnd): string;
};

const columns: readonly [name: string, read: (job: JobListItem, view: ReturnType<typeof toJobView>) => Cell][] = [
  ["id", ({ id }) => id],
  ["state", (_, { state }) => state],
  ["status", ({ status }) => status],
  ["workflow", (job) => (job.workflow_id || job.workflow_name ? workflowName(job) : undefined)],
  ["workflow_id", ({ workflow_id }) => workflow_id],
  ["label", ({ job_label }) => job_label],
  ["rerun_of", ({ rerun_of }) => rerun_of],
  ["submitted_by", ({ submitted_by, submitted_token }) => submitterText({ name: submitted_by, token: submitted_token })],
  ["submitted", (_, { createdAtMs }) => clock(createdAtMs)],
  ["started", (_, { startedAtMs }) => clock(startedAtMs)],
  ["ended", (_, { endedAtMs }) => clock(endedAtMs)],
  ["waited_seconds", (_, { queueWaitMs }) => seconds(queueWaitMs)],
  ["ran_seconds", (_, { runMs }) => seconds(runMs)],
  ["outputs", (_, { outputsCount }) => outputsCount],
  ["first_output", (_, { preview }) => preview?.name],
  ["error_node", (_, { error }) => error?.nodeType ?? error?.nodeId],
  ["error_type", (_, { error }) => error?.type],
  ["error_message", (_, { error }) => error?.message],
];

const csv: ExportFormat = {
  type: "text/csv; charset=utf-8",
  head: ({ inputs }) => BYTE_ORDER_MARK + csvLine([...columns.map(([name]) => name), ...inputs]),
  body: (jobs) =>
    jobs
      .map(({ job, inputs }) => {
        const view = toJobView(job);
        return csvLine([...columns.map(([, read]) => read(job, view)), ...inputs.map(({ value }) => value)]);
      })
      .join(""),
  end({ count, total, inputs, failure }) {
    if (!failure) return "";
    const notice = `INCOMPLETE: ${count} of ${total ?? "an unknown number of"} jobs. ${failure.code}: ${failure.message}`;
    return csvLine([notice, ...new Array<undefined>(columns.length - 1 + inputs)]);
  },
};

const json: ExportFormat = {
  type: "application/json; charset=utf-8",
  head: ({ exportedAt, total }) => `{"exported_at":${writeExactJson(exportedAt)},"total":${total ?? "null"},"jobs":[`,
  body: (jobs, isFirst) => jobs.map((job, index) => `${isFirst && index === 0 ? "" : ","}\n${writeExactJson(withInputs(job))}`).join(""),
  end({ count, failure }) {
    const why = failure && { code: failure.code, message: failure.message };
    return `\n],"count":${count},"complete":${!failure}${why ? `,"failure":${writeExactJson(why)}` : ""}}\n`;
  },
};

function withInputs({ job, inputs }: ExportedJob): object {
  return inputs.length === 0 ? job : { ...job, inputs: inputs.filter(({ value }) => value !== undefined) };
}

export const exportFormats = { csv, json } as const;

function clock(ms: number | undefined): string | undefined {
  return ms === undefined ? undefined : new Date(ms).toISOString();
}

function seconds(ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : ms / 1000;
}
