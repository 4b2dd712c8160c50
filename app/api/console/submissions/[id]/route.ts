import { consoleRoute } from "@/lib/server/bff/routes";
import { readSubmission } from "@/lib/server/prompts/submit-once";
import { getIdParam } from "@/lib/server/requests/read-request";
import { toJsonResponse } from "@/lib/server/requests/responses";

export const GET = consoleRoute("readSubmission", "operator", async (context) => {
  return toJsonResponse(await readSubmission(context, getIdParam(context)));
});
