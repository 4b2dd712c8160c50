import { consoleRoute } from "@/lib/server/bff/routes";
import { readSubmission } from "@/lib/server/prompts/submit-once";
import { idOf } from "@/lib/server/requests/read-request";
import { jsonAnswer } from "@/lib/server/requests/responses";
import { ok } from "@/lib/shared/result";

export const GET = consoleRoute("readSubmission", "operator", async (asked) => {
  const report = await readSubmission(asked, idOf(asked));
  return report.ok ? ok(jsonAnswer(report.value)) : report;
});
