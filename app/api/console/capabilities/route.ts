import { z } from "zod";
import { type Capabilities, isCapability } from "@/lib/contract/capabilities";
import { userdataQuerySchema } from "@/lib/contract/operations/files";
import { createListText } from "@/lib/contract/schemas/lenient";
import { guarded } from "@/lib/server/bff/guard";
import { hasCapability } from "@/lib/server/capabilities/has-capability";
import { openForJobs } from "@/lib/server/connections/access";
import { getConnectionParam, getSearchParams, readQuery } from "@/lib/server/requests/read-request";
import { jsonResponse } from "@/lib/server/requests/responses";
import { ok } from "@/lib/shared/result";

const querySchema = z.object({
  of: createListText(z.string().refine(isCapability)).default([]),
  dir: userdataQuerySchema.shape.dir.optional(),
});

/** Which of the requested capabilities the service has. */
export const GET = guarded({ action: "viewCapabilities", role: "viewer", connection: true }, async ({ request, ...context }) => {
  const search = getSearchParams(request);
  const access = await openForJobs(context, getConnectionParam(request));
  if (!access.ok) return access;
  const query = readQuery(search, querySchema);
  if (!query.ok) return query;
  const entries: [string, boolean | null][] = [];
  for (const capability of query.value.of) {
    const presence = await hasCapability(access.value, capability, { dir: query.value.dir, signal: request.signal });
    if (!presence.ok) return presence;
    entries.push([capability, presence.value ?? null]);
  }
  return ok(jsonResponse(Object.fromEntries(entries) satisfies Capabilities));
});
