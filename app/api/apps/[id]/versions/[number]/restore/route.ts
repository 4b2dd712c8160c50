import { restoreVersion } from "@/lib/server/apps/change-app";
import { openOwnApp, toView } from "@/lib/server/apps/open-app";
import { resourceRoute } from "@/lib/server/bff/routes";
import { jsonResponse } from "@/lib/server/requests/responses";
import { ok } from "@/lib/shared/result";

export const POST = resourceRoute("restoreApp", "operator", openOwnApp, async (context, app) => {
  const restored = await restoreVersion(context, app);
  return restored.ok ? ok(jsonResponse({ app: await toView(context, restored.value) })) : restored;
});
