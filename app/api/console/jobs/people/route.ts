import { type JobPeople } from "@/lib/contract/console";
import { guarded } from "@/lib/server/bff/guard";
import { listSubmitters } from "@/lib/server/jobs/job-search";
import { getConnectionParam } from "@/lib/server/requests/read-request";
import { jsonResponse } from "@/lib/server/requests/responses";
import { ok } from "@/lib/shared/result";

/** The members that a connection's jobs can be filtered by. */
export const GET = guarded({ action: "searchJobs", role: "viewer", connection: true }, async ({ request, ...context }) => {
  const people = await listSubmitters(context, getConnectionParam(request));
  if (!people.ok) return people;
  const jobPeople: JobPeople = { people: people.value };
  return ok(jsonResponse(jobPeople));
});
