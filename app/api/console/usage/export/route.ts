import { usageParams } from "@/lib/contract/members/usage";
import { createQuerySchema } from "@/lib/contract/schemas/lenient";
import { consoleRoute } from "@/lib/server/bff/routes";
import { streamUsageCsv } from "@/lib/server/queries/usage";
import { getSearchParams, readQuery } from "@/lib/server/requests/read-request";
import { createTextStream } from "@/lib/server/requests/responses";
import { ok } from "@/lib/shared/result";

const schema = createQuerySchema(usageParams);

/** Exports usage as CSV: all members' usage for admins, and their own usage for other members. */
export const GET = consoleRoute("exportUsage", "viewer", async ({ request, ...context }) => {
  const query = readQuery(getSearchParams(request), schema);
  if (!query.ok) return query;
  const day = new Date(context.composition.now()).toISOString().slice(0, 10);
  const headers = { "content-type": "text/csv; charset=utf-8", "content-disposition": `attachment; filename="usage-${day}.csv"` };
  return ok(new Response(createTextStream(streamUsageCsv(context, query.value)), { headers }));
});
