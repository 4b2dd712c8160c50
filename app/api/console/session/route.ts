import { readSessionState } from "@/lib/server/auth/account";
import { readReadOnly } from "@/lib/server/auth/read-only";
import { unguarded } from "@/lib/server/bff/guard";
import { jsonAnswer } from "@/lib/server/requests/responses";
import { READ_ONLY_HEADER } from "@/lib/shared/headers";
import { ok } from "@/lib/shared/result";

/** Open pages poll it every few seconds. It also reports to members that the console has become read-only. */
export const GET = unguarded("readSession", async ({ request, composition }) => {
  const session = await readSessionState(composition, request.headers);
  const answer = jsonAnswer(session);
  if (session.state === "live") answer.headers.set(READ_ONLY_HEADER, (await readReadOnly(composition)) ? "1" : "0");
  return ok(answer);
});
