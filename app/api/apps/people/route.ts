import { listEligibleMembers } from "@/lib/server/apps/change-app";
import { consoleRoute } from "@/lib/server/bff/routes";
import { getConnectionParam } from "@/lib/server/requests/read-request";
import { toJsonResponse } from "@/lib/server/requests/responses";

export const GET = consoleRoute("listAppPeople", "operator", async ({ request, ...context }) => {
  return toJsonResponse(await listEligibleMembers(context, getConnectionParam(request)), (value) => ({ people: value }));
});
