import { restoreVersion } from "@/lib/server/apps/change-app";
import { openEditableApp, toAppView } from "@/lib/server/apps/open-app";
import { resourceRoute } from "@/lib/server/bff/routes";
import { createJsonResponse } from "@/lib/server/requests/responses";
import { ok } from "@/lib/shared/result";

export const POST = resourceRoute("restoreApp", "operator", openEditableApp, async (context, app) => {
  const result = await restoreVersion(context, app);
  return result.ok ? ok(createJsonResponse({ app: await toAppView(context, result.value) })) : result;
});
