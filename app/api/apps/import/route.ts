import { z } from "zod";
import { appFileSchema } from "@/lib/contract/apps/app";
import { createApp, createImportFailure } from "@/lib/server/apps/change-app";
import { toAppView } from "@/lib/server/apps/open-app";
import { storeCover } from "@/lib/server/apps/runs";
import { consoleBodyRoute } from "@/lib/server/bff/routes";
import { getConnectionParam } from "@/lib/server/requests/read-request";
import { createJsonResponse } from "@/lib/server/requests/responses";
import { failed, ok } from "@/lib/shared/result";

/** Only the importing member can see the app until they share it. */
export const POST = consoleBodyRoute("importApp", "operator", z.unknown(), async (context, body) => {
  const file = appFileSchema.safeParse(body);
  if (!file.success) return failed(createImportFailure(body, file.error.issues));
  const { definition, limits } = file.data;
  const connection = getConnectionParam(context.request);
  const cover = await storeCover(context, connection, file.data.cover);
  if (!cover.ok) return cover;
  const { cover: _cover, ...definitionWithoutCover } = definition;
  const newDefinition = { ...definitionWithoutCover, ...(cover.value !== undefined && { cover: cover.value }) };
  const appResult = await createApp(context, connection, { definition: newDefinition, limits, access: { kind: "me" } });
  return appResult.ok ? ok(createJsonResponse({ app: await toAppView(context, appResult.value) }, 201)) : appResult;
});
