import { jsonAnswer } from "@/lib/server/bff/answers";
import { consoleRoute, idOf } from "@/lib/server/bff/console-route";
import { readPress } from "@/lib/server/prompts/read-press";
import { ok } from "@/lib/shared/result";

export const GET = consoleRoute("readPress", "operator", async (asked) => {
  const report = await readPress(asked, idOf(asked));
  return report.ok ? ok(jsonAnswer(report.value)) : report;
});
