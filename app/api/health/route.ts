import { createFailure } from "@/lib/contract/failure";
import { publicRoute } from "@/lib/server/bff/guard";
import { deriveInstallationName, INSTALLATION_HEADER } from "@/lib/server/installation";
import { createFailureResponse, createJsonResponse } from "@/lib/server/requests/responses";
import { ok } from "@/lib/shared/result";

const notReadyFailure = createFailure("SERVICE_UNAVAILABLE", "The console is not ready. See /api/health/ready.");

export const GET = publicRoute("health", async ({ composition, requestId }) => {
  const isReady = (await composition.readiness()).every(({ ready }) => ready);
  const response = isReady ? createJsonResponse({ status: "ok" }) : createFailureResponse(notReadyFailure, requestId);
  // The doctor command uses this to identify the installation.
  response.headers.set(INSTALLATION_HEADER, deriveInstallationName(composition.authSecret));
  return ok(response);
});
