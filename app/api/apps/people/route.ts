import { CONNECTION_PARAMETER } from "@/lib/contract/console";
import { listPeople } from "@/lib/server/apps/change-app";
import { consoleRoute } from "@/lib/server/bff/console-route";
import { searchOf } from "@/lib/server/requests/read-request";
import { jsonAnswer } from "@/lib/server/requests/responses";
import { ok } from "@/lib/shared/result";

export const GET = consoleRoute("listAppPeople", "operator", async ({ request, viewer }) => {
  const people = await listPeople(viewer, searchOf(request).get(CONNECTION_PARAMETER) ?? undefined);
  return people.ok ? ok(jsonAnswer({ people: people.value })) : people;
});
