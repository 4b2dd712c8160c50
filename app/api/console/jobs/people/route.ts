import { CONNECTION_PARAMETER, type JobPeople } from "@/lib/contract/console";
import { jsonAnswer } from "@/lib/server/bff/answers";
import { guarded } from "@/lib/server/bff/guard";
import { searchOf } from "@/lib/server/bff/read-request";
import { listSubmitters } from "@/lib/server/jobs/job-search";
import { ok } from "@/lib/shared/result";

/** The members by whom a connection's jobs can be filtered. */
export const GET = guarded({ action: "searchJobs", role: "viewer", connection: true }, async ({ request, viewer }) => {
  const people = await listSubmitters(viewer, searchOf(request).get(CONNECTION_PARAMETER) ?? undefined);
  if (!people.ok) return people;
  const answer: JobPeople = { people: people.value };
  return ok(jsonAnswer(answer));
});
