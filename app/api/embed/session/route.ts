import { embedLookSchema } from "@/lib/contract/embed/embedding";
import { createFailure } from "@/lib/contract/failure";
import { consoleBodyRoute, consoleRoute } from "@/lib/server/bff/routes";
import { endEmbeddedSession, setEmbedAppearance } from "@/lib/server/embed/sessions";
import { emptyResponse } from "@/lib/server/requests/responses";
import { failed, ok } from "@/lib/shared/result";

const createNotEmbedded = () => failed(createFailure("NOT_FOUND", "This is no embedded page."));

/** Sets the appearance that the host page requested. */
export const PATCH = consoleBodyRoute(
  "embedLook",
  "runner",
  embedLookSchema,
  async ({ viewer: { credential }, annotateAudit, composition }, look) => {
    annotateAudit({ by: undefined });
    if (credential.kind !== "embed") return createNotEmbedded();
    await setEmbedAppearance(composition, credential.id, look);
    return ok(emptyResponse());
  },
);

export const DELETE = consoleRoute("endEmbedSession", "runner", async ({ request, viewer: { credential }, composition }) => {
  if (credential.kind !== "embed") return createNotEmbedded();
  return ok(new Response(null, { status: 204, headers: await endEmbeddedSession(composition, credential.id, request.headers) }));
});
