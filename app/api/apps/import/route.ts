import { z } from "zod";
import { appFileSchema } from "@/lib/contract/apps/app";
import { createApp, noAppFile } from "@/lib/server/apps/change-app";
import { toView } from "@/lib/server/apps/open-app";
import { keepCover } from "@/lib/server/apps/runs";
import { consoleBodyRoute } from "@/lib/server/bff/routes";
import { connectionIn } from "@/lib/server/requests/read-request";
import { jsonAnswer } from "@/lib/server/requests/responses";
import { failed, ok } from "@/lib/shared/result";

/** At first only the importing member sees the app; they choose afterwards who else may. */
export const POST = consoleBodyRoute("importApp", "operator", z.unknown(), async (asked, body) => {
  const file = appFileSchema.safeParse(body);
  if (!file.success) return failed(noAppFile(body, file.error.issues));
  const { definition, limits } = file.data;
  const connection = connectionIn(asked.request);
  const cover = await keepCover(asked, connection, file.data.cover);
  if (!cover.ok) return cover;
  const { cover: _asset, ...rest } = definition;
  const own = { ...rest, ...(cover.value !== undefined && { cover: cover.value }) };
  const made = await createApp(asked, connection, { definition: own, limits, access: { kind: "me" } });
  return made.ok ? ok(jsonAnswer({ app: await toView(asked, made.value) }, 201)) : made;
});
