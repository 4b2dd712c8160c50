import { tokenBodySchema } from "@/lib/contract/members/tokens";
import { consoleBodyRoute } from "@/lib/server/bff/routes";
import { toJsonResponse } from "@/lib/server/requests/responses";
import { createToken } from "@/lib/server/tokens/personal-tokens";

export const POST = consoleBodyRoute(
  "createToken",
  { role: "runner", needsRecentSignIn: true },
  tokenBodySchema,
  async ({ annotateAudit, ...context }, body) => {
    annotateAudit({ target: body.name, outcome: body.role });
    return toJsonResponse(await createToken(context, body), (value) => value, 201);
  },
);
