import { z } from "zod";
import { jobSearchQuerySchema } from "@/lib/contract/console";
import { parseInputIds } from "@/lib/contract/jobs/job-list";
import { createListText } from "@/lib/contract/schemas/lenient";
import { guardedRoute } from "@/lib/server/bff/guard";
import { openForJobs } from "@/lib/server/connections/access";
import { exportJobs } from "@/lib/server/jobs/export-jobs";
import { getConnectionParam, getSearchParams, readJson, readQuery } from "@/lib/server/requests/read-request";

const guardOptions = { action: "exportJobs", role: "viewer", needsConnection: true } as const;
const MAX_IDS = 1000;
const formatSchema = z.enum(["csv", "json"]).default("json");
const idSchema = z.string().max(200);
const inputsSchema = z.string().max(5000).transform(parseInputIds);
const exportSchema = z.object({ format: formatSchema, inputs: inputsSchema.optional(), ids: createListText(idSchema, MAX_IDS).optional() });
const bodyInputsSchema = z
  .array(z.string().max(1000))
  .max(100)
  .transform((ids) => parseInputIds(ids.join(",")));
const bodySchema = z.object({
  format: formatSchema,
  inputs: bodyInputsSchema.optional(),
  ids: z.array(idSchema.min(1)).min(1).max(MAX_IDS),
});

export const GET = guardedRoute(guardOptions, async ({ request, annotateAudit, ...context }) => {
  const search = getSearchParams(request);
  const access = await openForJobs(context, getConnectionParam(request));
  if (!access.ok) return access;
  const query = readQuery(search, jobSearchQuerySchema);
  if (!query.ok) return query;
  const exportQuery = readQuery(search, exportSchema);
  if (!exportQuery.ok) return exportQuery;
  annotateAudit({ connectionId: access.value.connection.id });
  return exportJobs(access.value, {
    query: query.value,
    ...exportQuery.value,
    signal: request.signal,
  });
});

/** For more job ids than a URL can contain. */
export const POST = guardedRoute(guardOptions, async ({ annotateAudit, ...context }) => {
  const access = await openForJobs(context, getConnectionParam(context.request));
  if (!access.ok) return access;
  const body = await readJson(context, bodySchema);
  if (!body.ok) return body;
  annotateAudit({ connectionId: access.value.connection.id });
  return exportJobs(access.value, { query: jobSearchQuerySchema.parse({}), ...body.value, signal: context.request.signal });
});
