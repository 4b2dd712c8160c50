import { readSessionState } from "@/lib/server/auth/account";
import { unguarded } from "@/lib/server/bff/guard";
import { jsonResponse } from "@/lib/server/requests/responses";
import { ok } from "@/lib/shared/result";

/** Open pages follow this by live updates. */
export const GET = unguarded("readSession", async ({ request, composition }) =>
  ok(jsonResponse(await readSessionState(composition, request.headers))),
);
