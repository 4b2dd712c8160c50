import { z } from "zod";
import { appFileSchema } from "@/lib/contract/apps/app";
import { appFileRefusal, createApp } from "@/lib/server/apps/change-app";
import { toView } from "@/lib/server/apps/open-app";
import { storeCover } from "@/lib/server/apps/runs";
import { consoleBodyRoute } from "@/lib/server/bff/routes";
import { getConnectionParam } from "@/lib/server/requests/read-request";
import { jsonResponse } from "@/lib/server/requests/responses";
import { failed, ok } from "@/lib/shared/result";

/** The app is visible only to the importing member, who can then grant access. */
export const POST = consoleBodyRoute("importApp", "operator", z.unknown(), async (context, body) => {
  const file = appFileSchema.safeParse(body);
  if (!file.success) return failed(appFileRefusal(body, file.error.issues));
  const { definition, limits } = file.data;
  const connection = getConnectionParam(context.request);
  const cover = await storeCover(context, connection, file.data.cover);
  if (!cover.ok) return cover;
  const { cover: _asset, ...rest } = definition;
  const newDefinition = { ...rest, ...(cover.value !== undefined && { cover: cover.value }) };
  const appResult = await createApp(context, connection, { definition: newDefinition, limits, access: { kind: "me" } });
  return appResult.ok ? ok(jsonResponse({ app: await toView(context, appResult.value) }, 201)) : appResult;
});
