import { type JobsQuery } from "@/lib/contract/schemas/job";
import { withQuery } from "@/lib/browser/urls";

/** The page's own address for a query; defaults are left out, so that two ways to the same list have one address. */
export function jobsHref(query: JobsQuery, change: Partial<JobsQuery> & { connection?: string } = {}): string {
  const next = { ...query, ...change };
  return withQuery("/jobs", {
    status: next.status,
    workflow_id: next.workflow_id,
    output_type: next.output_type,
    sort_by: next.sort_by === "create_time" ? undefined : next.sort_by,
    sort_order: next.sort_order === "desc" ? undefined : next.sort_order,
    limit: next.limit === 100 ? undefined : next.limit,
    offset: next.offset === 0 ? undefined : next.offset,
    connection: next.connection,
  });
}

/** The API's path for a query: the key under which the browser keeps the answer. */
export function jobsApiPath(query: JobsQuery, connection: string | undefined): `/${string}` {
  return withQuery("/api/jobs", { ...query, connection });
}
