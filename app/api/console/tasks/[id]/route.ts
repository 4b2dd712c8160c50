import { consoleRoute } from "@/lib/server/bff/routes";
import { emptyAnswer } from "@/lib/server/requests/responses";
import { forgetDownload } from "@/lib/server/tasks/downloads";
import { ok } from "@/lib/shared/result";

export const DELETE = consoleRoute("forgetDownload", "operator", async (asked) => {
  const forgotten = await forgetDownload(asked);
  return forgotten.ok ? ok(emptyAnswer()) : forgotten;
});
