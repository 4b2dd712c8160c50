// All jobs that a query matches, page by page, whatever a service says about its pages; searches that only the ledger can answer use it.
// Guarantees: holds one page and requests the next when it is wanted; a job that moved to the next page because others were added is
// returned once; stops if a service repeats itself. Names are added and secrets masked as in the list itself.
// Must never: end quietly because a page failed.

import "server-only";
import { type JobSearchQuery } from "@/lib/contract/console";
import { type Failure } from "@/lib/contract/failure";
import { isSearch } from "@/lib/contract/jobs/job-list";
import { operations } from "@/lib/contract/operations";
import { type JobListItem, type JobsAnswer } from "@/lib/contract/schemas/job";
import { failed, ok, type Result } from "@/lib/shared/result";
import { passOn } from "../answers/pass-on";
import { toBrowser } from "../answers/to-browser";
import { type Access } from "../connections/access";
import { searchLedger } from "./job-search";

export const PAGE = 1000;

/** `unreadable`: how many entries of the page have an unknown shape and are missing in `jobs`. */
export type JobPage = { jobs: JobListItem[]; total: number | undefined; unreadable: number; isLast: boolean };
type JobPages = { next(): Promise<Result<JobPage, Failure>> };

export function jobPages(access: Access, query: JobSearchQuery, signal: AbortSignal): JobPages {
  async function read(page: JobSearchQuery): Promise<Result<JobsAnswer, Failure>> {
    if (isSearch(query)) return ok(await searchLedger(access.connection.id, page));
    const result = await access.upstream.call(operations.listJobs, { query: page, signal });
    return result.ok ? ok(await passOn(operations.listJobs, access, result.value)) : failed(toBrowser(result.failure, access));
  }
  let offset = 0;
  let before: ReadonlySet<string> = new Set();
  return {
    async next() {
      const refused = await access.lostRights();
      if (refused) return failed(refused);
      const result = await read({ ...query, limit: PAGE, offset });
      if (!result.ok) return result;
      const { jobs, pagination, unreadable = 0 } = result.value;
      const fresh = jobs.filter(({ id }) => !before.has(id));
      // Counts what arrived, not what was requested: a service may return smaller pages.
      offset += jobs.length + unreadable;
      before = new Set(jobs.map(({ id }) => id));
      const { has_more: hasMore, total } = pagination;
      const isOver = hasMore === undefined ? total !== undefined && offset >= total : !hasMore;
      return ok({ jobs: fresh, total, unreadable, isLast: isOver || fresh.length === 0 });
    },
  };
}
