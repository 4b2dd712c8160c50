import { type JobPeople } from "@/lib/contract/console";
import { guardedRoute } from "@/lib/server/bff/guard";
import { listSubmitters } from "@/lib/server/jobs/job-search";
import { getConnectionParam } from "@/lib/server/requests/read-request";
import { createJsonResponse } from "@/lib/server/requests/responses";
import { ok } from "@/lib/shared/result";

/** Lists the members by whom a connection's jobs can be filtered. */
export const GET = guardedRoute({ action: "searchJobs", role: "viewer", needsConnection: true }, async ({ request, ...context }) => {
  const people = await listSubmitters(context, getConnectionParam(request));
  if (!people.ok) return people;
  const responseBody: JobPeople = { people: people.value };
  return ok(createJsonResponse(responseBody));
});
