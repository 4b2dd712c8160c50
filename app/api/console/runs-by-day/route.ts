import { runsByDayQuerySchema } from "@/lib/contract/console";
import { guardedRoute } from "@/lib/server/bff/guard";
import { listRunsByDay } from "@/lib/server/queries/usage";
import { getConnectionParam, getSearchParams, readQuery } from "@/lib/server/requests/read-request";
import { toJsonResponse } from "@/lib/server/requests/responses";

export const GET = guardedRoute({ action: "listRunsByDay", role: "viewer", needsConnection: true }, async ({ request, ...context }) => {
  const search = getSearchParams(request);
  const query = readQuery(search, runsByDayQuerySchema);
  if (!query.ok) return query;
  const { zone } = query.value;
  return toJsonResponse(await listRunsByDay(context, zone, getConnectionParam(request)));
});
