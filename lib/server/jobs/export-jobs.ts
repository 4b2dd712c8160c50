// A whole filtered list as one streamed file: the next page is requested from the service when the browser has taken the one before.
// Guarantees: a failing first page is an ordinary refusal; a later failure is written at the end of the file, because the status is already
// sent. Reading ends when the browser goes away. `x-total-count` is the service's count, if it gave one.
// Must never: hold more than a page, or let an incomplete file look complete.

import "server-only";
import { type JobSearchQuery } from "@/lib/contract/console-job-search";
import { type Failure } from "@/lib/contract/failure";
import { ok, type Result } from "@/lib/shared/result";
import { refusal } from "../bff/guard";
import { textStream } from "../bff/text-stream";
import { type Access } from "../connections/access";
import { composition } from "../composition";
import { exportFormats } from "./export-formats";
import { type JobPage, jobPages } from "./job-pages";

/** A service whose pages never end must not fill a disk. */
const MOST_JOBS = 1_000_000;

type ExportOptions = {
  query: JobSearchQuery;
  format: keyof typeof exportFormats;
  /** Only these jobs of the list; it is read until all of them were found. */
  ids?: readonly string[];
  signal: AbortSignal;
};

export async function exportJobs(access: Access, { query, format, ids, signal }: ExportOptions): Promise<Result<Response, Failure>> {
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
    yield form.head({ exportedAt, total });
    for (let page: Result<JobPage, Failure> = first; ; page = await pages.next()) {
      if (!page.ok) return yield form.end({ count, total, failure: page.failure });
      const { jobs, isLast } = page.value;
      unreadable += page.value.unreadable;
      const chosen = wanted ? jobs.filter(({ id }) => wanted.delete(id)) : jobs.slice(0, MOST_JOBS - count);
      if (chosen.length > 0) yield form.body(chosen, count === 0);
      count += chosen.length;
      if (isLast || wanted?.size === 0) return yield form.end({ count, total, failure: missing(wanted) ?? leftOut(unreadable) });
      if (count >= MOST_JOBS) return yield form.end({ count, total, failure: tooMany() });
    }
  }
  async function* guarded(): AsyncGenerator<string, void> {
    try {
      yield* written();
    } catch (err) {
      // The answer has begun: the end of the file is the only place left for the failure.
      log.error({ err, connectionId: access.connection.id }, "an export broke off");
      yield form.end({ count, total, failure: refusal("INTERNAL", "Something went wrong in the console.") });
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

function missing(wanted: ReadonlySet<string> | undefined): Failure | undefined {
  return wanted && wanted.size > 0 ? refusal("NOT_FOUND", `${wanted.size} of the chosen jobs are not in the list.`) : undefined;
}

function leftOut(count: number): Failure | undefined {
  return count > 0 ? refusal("UNPROCESSABLE", `${count} jobs of the list could not be read and are not in this file.`) : undefined;
}

function tooMany(): Failure {
  return refusal("UNPROCESSABLE", `One file holds at most ${MOST_JOBS} jobs.`);
}
