import { jsonAnswer } from "@/lib/server/bff/answers";
import { consoleRoute, idOf } from "@/lib/server/bff/console-route";
import { readSubmission } from "@/lib/server/prompts/submit-once";
import { ok } from "@/lib/shared/result";

export const GET = consoleRoute("readSubmission", "operator", async (asked) => {
  const report = await readSubmission(asked, idOf(asked));
  return report.ok ? ok(jsonAnswer(report.value)) : report;
});
