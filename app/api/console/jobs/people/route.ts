import { CONNECTION_PARAMETER, type JobPeople } from "@/lib/contract/console";
import { guarded } from "@/lib/server/bff/guard";
import { listSubmitters } from "@/lib/server/jobs/job-search";
import { searchOf } from "@/lib/server/requests/read-request";
import { jsonAnswer } from "@/lib/server/requests/responses";
import { ok } from "@/lib/shared/result";

/** The members by whom a connection's jobs can be filtered. */
export const GET = guarded({ action: "searchJobs", role: "viewer", connection: true }, async ({ request, viewer }) => {
  const people = await listSubmitters(viewer, searchOf(request).get(CONNECTION_PARAMETER) ?? undefined);
  if (!people.ok) return people;
  const answer: JobPeople = { people: people.value };
  return ok(jsonAnswer(answer));
});
