import { z } from "zod";
import { commaList } from "@/lib/contract/schemas/lenient";
import { jobsQuerySchema } from "@/lib/contract/schemas/job";
import { guarded } from "@/lib/server/bff/guard";
import { CONNECTION_PARAMETER, readQuery, searchOf } from "@/lib/server/bff/read-request";
import { openConnection } from "@/lib/server/connections/access";
import { exportJobs } from "@/lib/server/jobs/export-jobs";

const ownSchema = z.object({
  format: z.enum(["csv", "json"]).default("json"),
  ids: commaList(z.string().max(200), 1000).optional(),
});

export const GET = guarded({ action: "exportJobs", role: "viewer", connection: true }, async ({ request, viewer, note }) => {
  const search = searchOf(request);
  const access = await openConnection(viewer, search.get(CONNECTION_PARAMETER) ?? undefined);
  if (!access.ok) return access;
  const query = readQuery(search, jobsQuerySchema);
  if (!query.ok) return query;
  const own = readQuery(search, ownSchema);
  if (!own.ok) return own;
  note({ connectionId: access.value.connection.id });
  return exportJobs(access.value, {
    query: jobsQuerySchema.parse(query.value),
    ...ownSchema.parse(own.value),
    signal: request.signal,
  });
});
