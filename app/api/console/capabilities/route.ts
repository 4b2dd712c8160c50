import { z } from "zod";
import { type Capabilities, isCapability } from "@/lib/contract/capabilities";
import { userdataQuerySchema } from "@/lib/contract/operations/files";
import { createListText } from "@/lib/contract/schemas/lenient";
import { guardedRoute } from "@/lib/server/bff/guard";
import { hasCapability } from "@/lib/server/capabilities/has-capability";
import { openForJobs } from "@/lib/server/connections/access";
import { getConnectionParam, getSearchParams, readQuery } from "@/lib/server/requests/read-request";
import { createJsonResponse } from "@/lib/server/requests/responses";
import { ok } from "@/lib/shared/result";

const querySchema = z.object({
  of: createListText(z.string().refine(isCapability)).default([]),
  dir: userdataQuerySchema.shape.dir.optional(),
});

/** Returns which of the requested capabilities the service has. */
export const GET = guardedRoute({ action: "viewCapabilities", role: "viewer", needsConnection: true }, async ({ request, ...context }) => {
  const search = getSearchParams(request);
  const access = await openForJobs(context, getConnectionParam(request));
  if (!access.ok) return access;
  const query = readQuery(search, querySchema);
  if (!query.ok) return query;
  const entries: [string, boolean | null][] = [];
  for (const capability of query.value.of) {
    const result = await hasCapability(access.value, capability, { dir: query.value.dir, signal: request.signal });
    if (!result.ok) return result;
    entries.push([capability, result.value ?? null]);
  }
  return ok(createJsonResponse(Object.fromEntries(entries) satisfies Capabilities));
});
