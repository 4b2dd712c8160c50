import { missingClassesQuerySchema } from "@/lib/contract/console";
import { guardedRoute } from "@/lib/server/bff/guard";
import { listMissingClasses } from "@/lib/server/queries/jobs";
import { getConnectionParam, getSearchParams, readQuery } from "@/lib/server/requests/read-request";
import { toJsonResponse } from "@/lib/server/requests/responses";

export const GET = guardedRoute(
  { action: "listLackingClasses", role: "viewer", needsConnection: true },
  async ({ request, ...context }) => {
    const search = getSearchParams(request);
    const query = readQuery(search, missingClassesQuerySchema);
    if (!query.ok) return query;
    const { names } = query.value;
    return toJsonResponse(await listMissingClasses(context, names, getConnectionParam(request)));
  },
);
