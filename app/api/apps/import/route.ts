import { appFileSchema } from "@/lib/contract/apps/app";
import { CONNECTION_PARAMETER } from "@/lib/contract/console";
import { createApp } from "@/lib/server/apps/change-app";
import { toView } from "@/lib/server/apps/open-app";
import { jsonAnswer } from "@/lib/server/bff/answers";
import { consoleBodyRoute } from "@/lib/server/bff/console-route";
import { searchOf } from "@/lib/server/bff/read-request";
import { ok } from "@/lib/shared/result";

/** Its maker's alone at first: who sees it is chosen where it is used. */
export const POST = consoleBodyRoute("importApp", "operator", appFileSchema, async (asked, { definition, limits }) => {
  const connection = searchOf(asked.request).get(CONNECTION_PARAMETER) ?? undefined;
  const { cover: _cover, ...rest } = definition;
  const made = await createApp(asked, connection, { definition: rest, limits, access: { kind: "me" } });
  return made.ok ? ok(jsonAnswer({ app: await toView(asked.viewer, made.value) }, 201)) : made;
});
