import { embedAppearanceSchema } from "@/lib/contract/embed/embedding";
import { createFailure } from "@/lib/contract/failure";
import { consoleBodyRoute, consoleRoute } from "@/lib/server/bff/routes";
import { endEmbeddedSession, setEmbedAppearance } from "@/lib/server/embed/sessions";
import { createEmptyResponse } from "@/lib/server/requests/responses";
import { failed, ok } from "@/lib/shared/result";

const failNotEmbedded = () => failed(createFailure("NOT_FOUND", "This page is not embedded."));

/** Sets the appearance that the host page requested. */
export const PATCH = consoleBodyRoute(
  "embedLook",
  "runner",
  embedAppearanceSchema,
  async ({ viewer: { credential }, annotateAudit, composition }, appearance) => {
    annotateAudit({ by: undefined });
    if (credential.kind !== "embed") return failNotEmbedded();
    await setEmbedAppearance(composition, credential.id, appearance);
    return ok(createEmptyResponse());
  },
);

export const DELETE = consoleRoute("endEmbedSession", "runner", async ({ request, viewer: { credential }, composition }) => {
  if (credential.kind !== "embed") return failNotEmbedded();
  return ok(new Response(null, { status: 204, headers: await endEmbeddedSession(composition, credential.id, request.headers) }));
});
