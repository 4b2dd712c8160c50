import { listPeople } from "@/lib/server/apps/change-app";
import { consoleRoute } from "@/lib/server/bff/routes";
import { connectionIn } from "@/lib/server/requests/read-request";
import { jsonOf } from "@/lib/server/requests/responses";

export const GET = consoleRoute("listAppPeople", "operator", async ({ request, ...context }) => {
  return jsonOf(await listPeople(context, connectionIn(request)), (value) => ({ people: value }));
});
