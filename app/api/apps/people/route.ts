import { listPeople } from "@/lib/server/apps/change-app";
import { consoleRoute } from "@/lib/server/bff/routes";
import { connectionIn } from "@/lib/server/requests/read-request";
import { jsonAnswer } from "@/lib/server/requests/responses";
import { ok } from "@/lib/shared/result";

export const GET = consoleRoute("listAppPeople", "operator", async ({ request, ...context }) => {
  const people = await listPeople(context, connectionIn(request));
  return people.ok ? ok(jsonAnswer({ people: people.value })) : people;
});
