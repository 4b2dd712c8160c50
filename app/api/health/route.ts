import { unguarded } from "@/lib/server/bff/guard";
import { INSTALLATION_HEADER, nameInstallation } from "@/lib/server/installation";
import { jsonResponse } from "@/lib/server/requests/responses";
import { ok } from "@/lib/shared/result";

/** The guard waits until store and service are ready, so 200 means ready. */
export const GET = unguarded("health", ({ composition }) => {
  // Shows the doctor which installation responds.
  const headers = new Headers({ [INSTALLATION_HEADER]: nameInstallation(composition.authSecret) });
  return Promise.resolve(ok(jsonResponse({ status: "ok" }, 200, headers)));
});
