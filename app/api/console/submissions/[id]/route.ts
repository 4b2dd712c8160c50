import { consoleRoute } from "@/lib/server/bff/routes";
import { readSubmission } from "@/lib/server/prompts/submit-once";
import { idOf } from "@/lib/server/requests/read-request";
import { jsonOf } from "@/lib/server/requests/responses";

export const GET = consoleRoute("readSubmission", "operator", async (context) => {
  return jsonOf(await readSubmission(context, idOf(context)));
});
