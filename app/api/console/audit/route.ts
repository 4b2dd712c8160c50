import { auditQuerySchema } from "@/lib/contract/audit/audit";
import { consoleRoute } from "@/lib/server/bff/routes";
import { listAudit } from "@/lib/server/queries/audit";
import { readQuery, searchOf } from "@/lib/server/requests/read-request";
import { jsonOf } from "@/lib/server/requests/responses";

export const GET = consoleRoute("listAudit", "admin", async ({ request, ...context }) => {
  const query = readQuery(searchOf(request), auditQuerySchema);
  if (!query.ok) return query;
  return jsonOf(await listAudit(context, query.value));
});
