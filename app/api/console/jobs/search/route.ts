import { jobSearchQuerySchema } from "@/lib/contract/console";
import { guardedRoute } from "@/lib/server/bff/guard";
import { openForJobs } from "@/lib/server/connections/access";
import { searchJobs } from "@/lib/server/jobs/job-search";
import { getConnectionParam, getSearchParams, readQuery } from "@/lib/server/requests/read-request";
import { toJsonResponse } from "@/lib/server/requests/responses";

/** Searches jobs by words, time and member in the console's job index. The response has the format of the service's list. */
export const GET = guardedRoute({ action: "searchJobs", role: "viewer", needsConnection: true }, async ({ request, ...context }) => {
  const search = getSearchParams(request);
  const access = await openForJobs(context, getConnectionParam(request));
  if (!access.ok) return access;
  const query = readQuery(search, jobSearchQuerySchema);
  if (!query.ok) return query;
  return toJsonResponse(await searchJobs(context, query.value, access.value.connection.id));
});
