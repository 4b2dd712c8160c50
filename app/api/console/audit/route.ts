import { auditQuerySchema } from "@/lib/contract/audit/audit";
import { consoleRoute } from "@/lib/server/bff/routes";
import { listAudit } from "@/lib/server/queries/audit";
import { getSearchParams, readQuery } from "@/lib/server/requests/read-request";
import { toJsonResponse } from "@/lib/server/requests/responses";

export const GET = consoleRoute("listAudit", "admin", async ({ request, ...context }) => {
  const query = readQuery(getSearchParams(request), auditQuerySchema);
  if (!query.ok) return query;
  return toJsonResponse(await listAudit(context, query.value));
});
