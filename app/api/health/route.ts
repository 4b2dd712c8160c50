import { publicRoute } from "@/lib/server/bff/guard";
import { deriveInstallationName, INSTALLATION_HEADER } from "@/lib/server/installation";
import { createJsonResponse } from "@/lib/server/requests/responses";
import { ok } from "@/lib/shared/result";

/** The guard waits until store and service are ready, so 200 means ready. */
export const GET = publicRoute("health", ({ composition }) => {
  // The doctor command uses this to identify the installation.
  const headers = new Headers({ [INSTALLATION_HEADER]: deriveInstallationName(composition.authSecret) });
  return Promise.resolve(ok(createJsonResponse({ status: "ok" }, 200, headers)));
});
