import { readOnlyBodySchema } from "@/lib/contract/console";
import { disableReadOnly, enableReadOnly } from "@/lib/server/auth/read-only";
import { consoleBodyRoute, consoleRoute } from "@/lib/server/bff/routes";
import { createEmptyResponse } from "@/lib/server/requests/responses";
import { ok } from "@/lib/shared/result";

const requirements = { role: "admin", needsSession: true } as const;

export const PUT = consoleBodyRoute(
  "beginReadOnly",
  requirements,
  readOnlyBodySchema,
  async ({ viewer, annotateAudit, composition }, { note }) => {
    await enableReadOnly(composition, viewer.name, note);
    annotateAudit({ outcome: note });
    return ok(createEmptyResponse());
  },
);

export const DELETE = consoleRoute("endReadOnly", requirements, async ({ composition }) => {
  await disableReadOnly(composition);
  return ok(createEmptyResponse());
});
