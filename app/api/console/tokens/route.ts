import { tokenBodySchema } from "@/lib/contract/people/tokens";
import { consoleBodyRoute } from "@/lib/server/bff/routes";
import { jsonAnswer } from "@/lib/server/requests/responses";
import { createToken } from "@/lib/server/tokens/personal-tokens";
import { ok } from "@/lib/shared/result";

export const POST = consoleBodyRoute(
  "createToken",
  { role: "runner", recent: true },
  tokenBodySchema,
  async ({ annotateAudit, ...context }, body) => {
    annotateAudit({ target: body.name, outcome: body.role });
    const made = await createToken(context, body);
    return made.ok ? ok(jsonAnswer(made.value, 201)) : made;
  },
);
