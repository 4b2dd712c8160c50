import { tokenBodySchema } from "@/lib/contract/people/tokens";
import { consoleBodyRoute } from "@/lib/server/bff/routes";
import { toJsonResponse } from "@/lib/server/requests/responses";
import { createToken } from "@/lib/server/tokens/personal-tokens";

export const POST = consoleBodyRoute(
  "createToken",
  { role: "runner", recent: true },
  tokenBodySchema,
  async ({ annotateAudit, ...context }, body) => {
    annotateAudit({ target: body.name, outcome: body.role });
    return toJsonResponse(await createToken(context, body), (value) => value, 201);
  },
);
