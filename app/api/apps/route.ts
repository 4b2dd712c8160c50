import { appBodySchema, appsQuerySchema } from "@/lib/contract/apps/app";
import { createApp, listApps } from "@/lib/server/apps/change-app";
import { toView } from "@/lib/server/apps/open-app";
import { consoleBodyRoute, consoleRoute } from "@/lib/server/bff/routes";
import { connectionIn, readQuery, searchOf } from "@/lib/server/requests/read-request";
import { jsonAnswer } from "@/lib/server/requests/responses";
import { ok } from "@/lib/shared/result";

export const GET = consoleRoute("listApps", "runner", async ({ request, ...context }) => {
  const search = searchOf(request);
  const query = readQuery(search, appsQuerySchema);
  if (!query.ok) return query;
  const listed = await listApps(context, connectionIn(request), query.value);
  return listed.ok ? ok(jsonAnswer(listed.value)) : listed;
});

export const POST = consoleBodyRoute("createApp", "operator", appBodySchema, async (asked, body) => {
  const made = await createApp(asked, connectionIn(asked.request), body);
  return made.ok ? ok(jsonAnswer({ app: await toView(asked, made.value) }, 201)) : made;
});
