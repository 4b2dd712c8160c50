// Exports a list of jobs as CSV or JSON, page by page.

import "server-only";
import { type JobSearchQuery } from "@/lib/contract/console";
import { createFailure, type Failure } from "@/lib/contract/failure";
import { collectInputs } from "@/lib/contract/jobs/job-inputs";
import { hasSearchFilter, type InputId, splitInputId } from "@/lib/contract/jobs/job-list";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { formatSubmitter } from "@/lib/contract/members/usage";
import { operations } from "@/lib/contract/operations";
import { type JobListItem, type JobsResponse } from "@/lib/contract/schemas/job";
import { toJobView } from "@/lib/contract/views/job-view";
import { getWorkflowName } from "@/lib/contract/workflow/workflow-name";
import { failed, ok, type Result } from "@/lib/shared/result";
import { BYTE_ORDER_MARK, type Cell, formatCount, formatCsvLine } from "@/lib/shared/text";
import { type Access } from "../connections/access";
import { createTextStream } from "../requests/responses";
import { requestRedacted } from "../responses/process-response";
import { searchJobIndex } from "./job-search";

const PAGE_SIZE = 1000;

/** `unreadable` is the number of entries with an unknown format, which `jobs` does not contain. */
type JobPage = { jobs: JobListItem[]; total: number | undefined; unreadable: number; isLast: boolean };
/** A service that ignores the offset would return such pages forever. */
const MAX_UNREADABLE_PAGES = 20;

type JobPages = { next(): Promise<Result<JobPage, Failure>> };

function createJobPages(access: Access, query: JobSearchQuery, signal: AbortSignal): JobPages {
  async function readPage(page: JobSearchQuery): Promise<Result<JobsResponse, Failure>> {
    if (hasSearchFilter(query)) return ok(await searchJobIndex(access, page));
    const result = await requestRedacted(operations.listJobs, access, { query: page, signal });
    return result.ok ? ok(result.value.value) : result;
  }
  let offset = 0;
  let previousIds: ReadonlySet<string> = new Set();
  let unreadablePageCount = 0;
  return {
    async next() {
      const rightsFailure = await access.checkRights();
      if (rightsFailure) return failed(rightsFailure);
      const result = await readPage({ ...query, limit: PAGE_SIZE, offset });
      if (!result.ok) return result;
      const { jobs, pagination, unreadable = 0 } = result.value;
      const newJobs = jobs.filter(({ id }) => !previousIds.has(id));
      // Counts the received jobs, because a service may return smaller pages than requested.
      offset += jobs.length + unreadable;
      previousIds = new Set(jobs.map(({ id }) => id));
      const { has_more: hasMore, total } = pagination;
      const isLastPage = hasMore === undefined ? total !== undefined && offset >= total : !hasMore;
      unreadablePageCount = jobs.length === 0 && unreadable > 0 ? unreadablePageCount + 1 : 0;
      // More pages may follow one that has only unreadable entries.
      const shouldSkipPage = unreadablePageCount > 0 && unreadablePageCount < MAX_UNREADABLE_PAGES;
      const isEmpty = newJobs.length === 0 && !shouldSkipPage;
      return ok({ jobs: newJobs, total, unreadable, isLast: isLastPage || isEmpty });
    },
  };
}

/** `inputs` contains each requested input in column order, with an undefined value if the job has none. */
type ExportedJob = { job: JobListItem; inputs: readonly { name: string; value: string | undefined }[] };
type ExportEnd = { count: number; inputs: number; total: number | undefined; failure: Failure | undefined };
type ExportFormat = {
  type: string;
  head(summary: { exportedAt: string; total: number | undefined; inputs: readonly string[] }): string;
  /** `isFirst` is true for the first batch. */
  body(jobs: readonly ExportedJob[], isFirst: boolean): string;
  end(summary: ExportEnd): string;
};

const columns: readonly [name: string, read: (job: JobListItem, view: ReturnType<typeof toJobView>) => Cell][] = [
  ["id", ({ id }) => id],
  ["state", (_, { state }) => state],
  ["status", ({ status }) => status],
  ["workflow", (job) => (job.workflow_id || job.workflow_name ? getWorkflowName(job) : undefined)],
  ["workflow_id", ({ workflow_id }) => workflow_id],
  ["label", ({ job_label }) => job_label],
  ["rerun_of", ({ rerun_of }) => rerun_of],
  ["submitted_by", ({ submitted_by, submitted_token }) => formatSubmitter({ name: submitted_by, token: submitted_token })],
  ["submitted", (_, { createdAtMs }) => toIsoTime(createdAtMs)],
  ["started", (_, { startedAtMs }) => toIsoTime(startedAtMs)],
  ["ended", (_, { endedAtMs }) => toIsoTime(endedAtMs)],
  ["waited_seconds", (_, { queueWaitMs }) => toSeconds(queueWaitMs)],
  ["ran_seconds", (_, { runMs }) => toSeconds(runMs)],
  ["outputs", (_, { outputsCount }) => outputsCount],
  ["first_output", (_, { preview }) => preview?.name],
  ["error_node", (_, { error }) => error?.nodeType ?? error?.nodeId],
  ["error_type", (_, { error }) => error?.type],
  ["error_message", (_, { error }) => error?.message],
];

const csv: ExportFormat = {
  type: "text/csv; charset=utf-8",
  head: ({ inputs }) => BYTE_ORDER_MARK + formatCsvLine([...columns.map(([name]) => name), ...inputs]),
  body: (jobs) =>
    jobs
      .map(({ job, inputs }) => {
        const view = toJobView(job);
        return formatCsvLine([...columns.map(([, read]) => read(job, view)), ...inputs.map(({ value }) => value)]);
      })
      .join(""),
  end({ count, total, inputs, failure }) {
    if (!failure) return "";
    const notice = `INCOMPLETE: ${count} of ${total ?? "an unknown number of"} jobs. ${failure.code}: ${failure.message}`;
    return formatCsvLine([notice, ...new Array<undefined>(columns.length - 1 + inputs)]);
  },
};

const json: ExportFormat = {
  type: "application/json; charset=utf-8",
  head: ({ exportedAt, total }) => `{"exported_at":${writeExactJson(exportedAt)},"total":${total ?? "null"},"jobs":[`,
  body: (jobs, isFirst) => jobs.map((job, index) => `${isFirst && index === 0 ? "" : ","}\n${writeExactJson(toExportedRow(job))}`).join(""),
  end({ count, failure }) {
    const reason = failure && { code: failure.code, message: failure.message };
    return `\n],"count":${count},"complete":${!failure}${reason ? `,"failure":${writeExactJson(reason)}` : ""}}\n`;
  },
};

function toExportedRow({ job, inputs }: ExportedJob): object {
  return inputs.length === 0 ? job : { ...job, inputs: inputs.filter(({ value }) => value !== undefined) };
}

const exportFormats = { csv, json } as const;

function toIsoTime(ms: number | undefined): string | undefined {
  return ms === undefined ? undefined : new Date(ms).toISOString();
}

function toSeconds(ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : ms / 1000;
}

/** Prevents a service with endless pagination from filling the disk. */
const MAX_JOBS = 1_000_000;
/** Each job needs another request to the service. */
const MAX_JOBS_WITH_INPUTS = 5_000;
const MAX_CONCURRENT_JOBS = 4;

type ExportOptions = {
  query: JobSearchQuery;
  format: keyof typeof exportFormats;
  /** Exports only these jobs. The list is read until all of them are found. */
  ids?: readonly string[];
  /** Additional columns: node inputs, which are read from each job's details. */
  inputs?: readonly InputId[];
  signal: AbortSignal;
};

export async function exportJobs(
  access: Access,
  { query, format, ids, inputs = [], signal }: ExportOptions,
): Promise<Result<Response, Failure>> {
  const { now, log } = access.composition;
  const disconnectController = new AbortController();
  const pages = createJobPages(access, query, AbortSignal.any([signal, disconnectController.signal]));
  const firstPage = await pages.next();
  if (!firstPage.ok) return firstPage;
  const exportFormat = exportFormats[format];
  const selectedIds = ids && new Set(ids);
  const total = selectedIds?.size ?? firstPage.value.total;
  const exportedAt = new Date(now()).toISOString();
  let count = 0;
  let unreadableCount = 0;

  async function* writeChunks(): AsyncGenerator<string, void> {
    yield exportFormat.head({ exportedAt, total, inputs: inputs.map((id) => splitInputId(id).name) });
    for (let page: Result<JobPage, Failure> = firstPage; ; page = await pages.next()) {
      if (!page.ok) return yield exportFormat.end({ count, total, inputs: inputs.length, failure: page.failure });
      const { jobs, isLast } = page.value;
      unreadableCount += page.value.unreadable;
      const exportedJobs = selectedIds ? jobs.filter(({ id }) => selectedIds.delete(id)) : jobs.slice(0, MAX_JOBS - count);
      if (inputs.length > 0 && count + exportedJobs.length > MAX_JOBS_WITH_INPUTS)
        return yield exportFormat.end({ count, total, inputs: inputs.length, failure: createTooManyInputsFailure() });
      const batchLength = inputs.length > 0 ? MAX_CONCURRENT_JOBS : PAGE_SIZE;
      for (let start = 0; start < exportedJobs.length; start += batchLength) {
        const result = await addInputs(access, exportedJobs.slice(start, start + batchLength), inputs, disconnectController.signal);
        if (!result.ok) return yield exportFormat.end({ count, total, inputs: inputs.length, failure: result.failure });
        yield exportFormat.body(result.value, count === 0);
        count += result.value.length;
      }
      if (isLast || selectedIds?.size === 0)
        return yield exportFormat.end({
          count,
          total,
          inputs: inputs.length,
          failure: findMissingJobsFailure(selectedIds) ?? findOmittedJobsFailure(unreadableCount),
        });
      if (count + unreadableCount >= MAX_JOBS)
        return yield exportFormat.end({ count, total, inputs: inputs.length, failure: createTooManyJobsFailure() });
    }
  }
  async function* writeSafely(): AsyncGenerator<string, void> {
    try {
      yield* writeChunks();
    } catch (err) {
      // The response has started, so the failure can only be reported at the end of the file.
      log.error({ err, connectionId: access.connection.id }, "job export failed");
      yield exportFormat.end({
        count,
        total,
        inputs: inputs.length,
        failure: createFailure("INTERNAL", "Something went wrong in the console."),
      });
    }
  }

  const headers = new Headers({
    "content-type": exportFormat.type,
    "content-disposition": `attachment; filename="jobs-${exportedAt.slice(0, 10)}.${format}"`,
  });
  if (total !== undefined) headers.set("x-total-count", String(total));
  return ok(
    new Response(
      createTextStream(writeSafely(), () => disconnectController.abort()),
      { headers },
    ),
  );
}

async function addInputs(
  access: Access,
  jobs: readonly JobListItem[],
  inputs: readonly InputId[],
  signal: AbortSignal,
): Promise<Result<ExportedJob[], Failure>> {
  if (inputs.length === 0) return ok(jobs.map((job) => ({ job, inputs: [] })));
  const results = await Promise.all(
    jobs.map(async ({ id }) => requestRedacted(operations.getJob, access, { params: { job_id: id }, signal })),
  );
  const exportedJobs: ExportedJob[] = [];
  for (const [index, job] of jobs.entries()) {
    const jobResult = results[index];
    if (!jobResult) continue;
    if (!jobResult.ok && jobResult.failure.status !== 404) return jobResult;
    const values = collectInputs(jobResult.ok ? jobResult.value.value.workflow : undefined);
    const inputValues = inputs.map((inputId) => {
      const { node, input, name } = splitInputId(inputId);
      return { name, value: values.get(node)?.get(input) };
    });
    exportedJobs.push({ job, inputs: inputValues });
  }
  return ok(exportedJobs);
}

function createTooManyInputsFailure(): Failure {
  return createFailure("UNPROCESSABLE", `An export with inputs can contain at most ${MAX_JOBS_WITH_INPUTS} jobs.`);
}

function findMissingJobsFailure(selectedIds: ReadonlySet<string> | undefined): Failure | undefined {
  return selectedIds && selectedIds.size > 0
    ? createFailure("NOT_FOUND", `${selectedIds.size} of the selected jobs are not in the list.`)
    : undefined;
}

function findOmittedJobsFailure(count: number): Failure | undefined {
  return count > 0
    ? createFailure("UNPROCESSABLE", `${formatCount(count, "job")} in the list could not be read. This file is incomplete.`)
    : undefined;
}

function createTooManyJobsFailure(): Failure {
  return createFailure("UNPROCESSABLE", `An export can contain at most ${MAX_JOBS} jobs.`);
}
