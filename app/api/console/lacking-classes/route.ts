import { lackingClassesQuerySchema } from "@/lib/contract/console";
import { guarded } from "@/lib/server/bff/guard";
import { listLackingClasses } from "@/lib/server/queries/jobs";
import { getConnectionParam, getSearchParams, readQuery } from "@/lib/server/requests/read-request";
import { toJsonResponse } from "@/lib/server/requests/responses";

export const GET = guarded({ action: "listLackingClasses", role: "viewer", connection: true }, async ({ request, ...context }) => {
  const search = getSearchParams(request);
  const query = readQuery(search, lackingClassesQuerySchema);
  if (!query.ok) return query;
  const { names } = query.value;
  return toJsonResponse(await listLackingClasses(context, names, getConnectionParam(request)));
});
