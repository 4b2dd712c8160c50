import { endSessions } from "@/lib/server/auth/account";
import { emptyAnswer } from "@/lib/server/bff/answers";
import { consoleRoute } from "@/lib/server/bff/console-route";
import { ok } from "@/lib/shared/result";

export const DELETE = consoleRoute("endSessions", "viewer", async ({ viewer }) => {
  await endSessions(viewer);
  return ok(emptyAnswer());
});
