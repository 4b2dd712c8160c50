import { readSessionState } from "@/lib/server/auth/account";
import { publicRoute } from "@/lib/server/bff/guard";
import { createJsonResponse } from "@/lib/server/requests/responses";
import { ok } from "@/lib/shared/result";

/** Open pages subscribe to this route through live updates. */
export const GET = publicRoute("readSession", async ({ request, composition }) =>
  ok(createJsonResponse(await readSessionState(composition, request.headers))),
);
