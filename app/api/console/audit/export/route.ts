import { auditQuerySchema } from "@/lib/contract/audit/audit";
import { consoleRoute } from "@/lib/server/bff/routes";
import { streamAuditCsv } from "@/lib/server/queries/audit";
import { getSearchParams, readQuery } from "@/lib/server/requests/read-request";
import { createTextStream } from "@/lib/server/requests/responses";
import { ok } from "@/lib/shared/result";

export const GET = consoleRoute("exportAudit", "admin", async ({ request, annotateAudit, ...context }) => {
  annotateAudit({ isAlwaysWritten: true });
  const query = readQuery(getSearchParams(request), auditQuerySchema);
  if (!query.ok) return query;
  const day = new Date(context.composition.now()).toISOString().slice(0, 10);
  const headers = { "content-type": "text/csv; charset=utf-8", "content-disposition": `attachment; filename="audit-${day}.csv"` };
  return ok(new Response(createTextStream(streamAuditCsv(context, query.value)), { headers }));
});
