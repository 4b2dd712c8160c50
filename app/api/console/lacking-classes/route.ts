import { lackingClassesQuerySchema } from "@/lib/contract/console";
import { guarded } from "@/lib/server/bff/guard";
import { listLackingClasses } from "@/lib/server/queries/jobs";
import { connectionIn, readQuery, searchOf } from "@/lib/server/requests/read-request";
import { jsonAnswer } from "@/lib/server/requests/responses";
import { ok } from "@/lib/shared/result";

export const GET = guarded({ action: "listLackingClasses", role: "viewer", connection: true }, async ({ request, ...context }) => {
  const search = searchOf(request);
  const query = readQuery(search, lackingClassesQuerySchema);
  if (!query.ok) return query;
  const { names } = query.value;
  const lacking = await listLackingClasses(context, names, connectionIn(request));
  return lacking.ok ? ok(jsonAnswer(lacking.value)) : lacking;
});
