import { auditQuerySchema } from "@/lib/contract/audit/audit";
import { jsonAnswer } from "@/lib/server/bff/answers";
import { consoleRoute } from "@/lib/server/bff/console-route";
import { readQuery, searchOf } from "@/lib/server/bff/read-request";
import { listAudit } from "@/lib/server/queries/audit";
import { ok } from "@/lib/shared/result";

export const GET = consoleRoute("listAudit", "admin", async ({ request, viewer }) => {
  const query = readQuery(searchOf(request), auditQuerySchema);
  if (!query.ok) return query;
  const page = await listAudit(viewer, query.value);
  return page.ok ? ok(jsonAnswer(page.value)) : page;
});
