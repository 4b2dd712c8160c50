import { savedViewBodySchema } from "@/lib/contract/saved-views";
import { jsonAnswer } from "@/lib/server/bff/answers";
import { consoleBodyRoute, consoleRoute } from "@/lib/server/bff/console-route";
import { createSavedView, listSavedViews } from "@/lib/server/queries/saved-views";
import { ok } from "@/lib/shared/result";

export const GET = consoleRoute("listSavedViews", "viewer", async ({ viewer }) => ok(jsonAnswer({ views: await listSavedViews(viewer) })));

export const POST = consoleBodyRoute("createSavedView", "viewer", savedViewBodySchema, async ({ viewer, note }, body) => {
  note({ target: body.name, outcome: body.team ? "of the team" : "personal" });
  const saved = await createSavedView(viewer, body);
  return saved.ok ? ok(jsonAnswer({ view: saved.value }, 201)) : saved;
});
