import { readOnlyBodySchema } from "@/lib/contract/console";
import { disableReadOnly, enableReadOnly } from "@/lib/server/auth/read-only";
import { consoleBodyRoute, consoleRoute } from "@/lib/server/bff/routes";
import { emptyResponse } from "@/lib/server/requests/responses";
import { ok } from "@/lib/shared/result";

const requirements = { role: "admin", session: true } as const;

export const PUT = consoleBodyRoute(
  "beginReadOnly",
  requirements,
  readOnlyBodySchema,
  async ({ viewer, annotateAudit: annotate, composition }, { note }) => {
    await enableReadOnly(composition, viewer.name, note);
    annotate({ outcome: note });
    return ok(emptyResponse());
  },
);

export const DELETE = consoleRoute("endReadOnly", requirements, async ({ composition }) => {
  await disableReadOnly(composition);
  return ok(emptyResponse());
});
