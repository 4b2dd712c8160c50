// A whole filtered list as one streamed file: the next page is requested from the service when the browser has taken the one before.
// Guarantees: a failing first page is an ordinary refusal; a later failure is written at the end of the file, because the status is already
// sent. Reading ends when the browser goes away. `x-total-count` is the service's count, if it gave one.
// Must never: hold more than a page, or let an incomplete file look complete.

import "server-only";
import { type JobSearchQuery } from "@/lib/contract/console";
import { type Failure } from "@/lib/contract/failure";
import { toInputs, type InputId, inputOf } from "@/lib/contract/jobs/job-inputs";
import { operations } from "@/lib/contract/operations";
import { type JobListItem } from "@/lib/contract/schemas/job";
import { failed, ok, type Result } from "@/lib/shared/result";
import { passOn } from "../answers/pass-on";
import { toBrowser } from "../answers/to-browser";
import { refusal } from "../bff/guard";
import { textStream } from "../bff/answers";
import { composition } from "../composition";
import { type Access } from "../connections/access";
import { type ExportedJob, exportFormats } from "./export-formats";
import { type JobPage, jobPages, PAGE } from "./job-pages";

/** A service whose pages never end must not fill a disk. */
const MOST_JOBS = 1_000_000;
/** Each job is one more request to the service. */
const MAX_WITH_INPUTS = 5_000;
const JOBS_AT_ONCE = 4;

type ExportOptions = {
  query: JobSearchQuery;
  format: keyof typeof exportFormats;
  /** Only these jobs of the list; it is read until all of them were found. */
  ids?: readonly string[];
  /** Additional columns: node inputs, which are read from each job's details. */
  inputs?: readonly InputId[];
  signal: AbortSignal;
};

export async function exportJobs(
  access: Access,
  { query, format, ids, inputs = [], signal }: ExportOptions,
): Promise<Result<Response, Failure>> {
  const { now, log } = composition();
  const gone = new AbortController();
  const pages = jobPages(access, query, AbortSignal.any([signal, gone.signal]));
  const first = await pages.next();
  if (!first.ok) return first;
  const form = exportFormats[format];
  const wanted = ids && new Set(ids);
  const total = wanted?.size ?? first.value.total;
  const exportedAt = new Date(now()).toISOString();
  let count = 0;
  let unreadable = 0;

  async function* written(): AsyncGenerator<string, void> {
    yield form.head({ exportedAt, total, inputs: inputs.map((id) => inputOf(id).name) });
    for (let page: Result<JobPage, Failure> = first; ; page = await pages.next()) {
      if (!page.ok) return yield form.end({ count, total, inputs: inputs.length, failure: page.failure });
      const { jobs, isLast } = page.value;
      unreadable += page.value.unreadable;
      const chosen = wanted ? jobs.filter(({ id }) => wanted.delete(id)) : jobs.slice(0, MOST_JOBS - count);
      if (inputs.length > 0 && count + chosen.length > MAX_WITH_INPUTS)
        return yield form.end({ count, total, inputs: inputs.length, failure: tooManyWithInputs() });
      const some = inputs.length > 0 ? JOBS_AT_ONCE : PAGE;
      for (let at = 0; at < chosen.length; at += some) {
        const read = await withInputs(access, chosen.slice(at, at + some), inputs, gone.signal);
        if (!read.ok) return yield form.end({ count, total, inputs: inputs.length, failure: read.failure });
        yield form.body(read.value, count === 0);
        count += read.value.length;
      }
      if (isLast || wanted?.size === 0)
        return yield form.end({ count, total, inputs: inputs.length, failure: missing(wanted) ?? leftOut(unreadable) });
      if (count >= MOST_JOBS) return yield form.end({ count, total, inputs: inputs.length, failure: tooMany() });
    }
  }
  async function* guarded(): AsyncGenerator<string, void> {
    try {
      yield* written();
    } catch (err) {
      // The answer has begun: the end of the file is the only place left for the failure.
      log.error({ err, connectionId: access.connection.id }, "an export broke off");
      yield form.end({ count, total, inputs: inputs.length, failure: refusal("INTERNAL", "Something went wrong in the console.") });
    }
  }

  const headers = new Headers({
    "content-type": form.type,
    "content-disposition": `attachment; filename="jobs-${exportedAt.slice(0, 10)}.${format}"`,
  });
  if (total !== undefined) headers.set("x-total-count", String(total));
  return ok(
    new Response(
      textStream(guarded(), () => gone.abort()),
      { headers },
    ),
  );
}

/** A job whose details are gone has empty values. */
async function withInputs(
  access: Access,
  jobs: readonly JobListItem[],
  inputs: readonly InputId[],
  signal: AbortSignal,
): Promise<Result<ExportedJob[], Failure>> {
  if (inputs.length === 0) return ok(jobs.map((job) => ({ job, inputs: [] })));
  const read = await Promise.all(jobs.map(async ({ id }) => access.upstream.call(operations.getJob, { params: { job_id: id }, signal })));
  const exported: ExportedJob[] = [];
  for (const [index, job] of jobs.entries()) {
    const detail = read[index];
    if (!detail) continue;
    if (!detail.ok && detail.failure.status !== 404) return failed(toBrowser(detail.failure, access));
    const values = toInputs(detail.ok ? (await passOn(operations.getJob, access, detail.value)).workflow : undefined);
    const named = inputs.map((each) => {
      const { node, input, name } = inputOf(each);
      return { name, value: values.get(node)?.get(input) };
    });
    exported.push({ job, inputs: named });
  }
  return ok(exported);
}

function tooManyWithInputs(): Failure {
  return refusal("UNPROCESSABLE", `One file holds the inputs of at most ${MAX_WITH_INPUTS} jobs.`);
}

function missing(wanted: ReadonlySet<string> | undefined): Failure | undefined {
  return wanted && wanted.size > 0 ? refusal("NOT_FOUND", `${wanted.size} of the chosen jobs are not in the list.`) : undefined;
}

function leftOut(count: number): Failure | undefined {
  return count > 0 ? refusal("UNPROCESSABLE", `${count} jobs of the list could not be read and are not in this file.`) : undefined;
}

function tooMany(): Failure {
  return refusal("UNPROCESSABLE", `One file holds at most ${MOST_JOBS} jobs.`);
}
