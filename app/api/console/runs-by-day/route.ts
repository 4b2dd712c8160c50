import { runsByDayQuerySchema } from "@/lib/contract/console";
import { guarded } from "@/lib/server/bff/guard";
import { listRunsByDay } from "@/lib/server/queries/usage";
import { connectionIn, readQuery, searchOf } from "@/lib/server/requests/read-request";
import { jsonOf } from "@/lib/server/requests/responses";

export const GET = guarded({ action: "listRunsByDay", role: "viewer", connection: true }, async ({ request, ...context }) => {
  const search = searchOf(request);
  const query = readQuery(search, runsByDayQuerySchema);
  if (!query.ok) return query;
  const { zone } = query.value;
  return jsonOf(await listRunsByDay(context, zone, connectionIn(request)));
});
