import { lackingClassesQuerySchema } from "@/lib/contract/console";
import { guarded } from "@/lib/server/bff/guard";
import { listLackingClasses } from "@/lib/server/queries/jobs";
import { connectionIn, readQuery, searchOf } from "@/lib/server/requests/read-request";
import { jsonOf } from "@/lib/server/requests/responses";

export const GET = guarded({ action: "listLackingClasses", role: "viewer", connection: true }, async ({ request, ...context }) => {
  const search = searchOf(request);
  const query = readQuery(search, lackingClassesQuerySchema);
  if (!query.ok) return query;
  const { names } = query.value;
  return jsonOf(await listLackingClasses(context, names, connectionIn(request)));
});
