import { accountChangeSchema } from "@/lib/contract/console";
import { createFailure } from "@/lib/contract/failure";
import { changeAccount } from "@/lib/server/auth/account";
import { consoleBodyRoute, consoleRoute } from "@/lib/server/bff/routes";
import { getClientAddress } from "@/lib/server/limits/attempt-limit";
import { getAccount } from "@/lib/server/queries/members";
import { createJsonResponse, toJsonResponse } from "@/lib/server/requests/responses";
import { failed, ok } from "@/lib/shared/result";

export const GET = consoleRoute("readAccount", "runner", async (context) => {
  const member = await getAccount(context);
  return member ? ok(createJsonResponse({ member })) : failed(createFailure("UNAUTHORIZED", "Sign in first."));
});

export const PUT = consoleBodyRoute(
  "changeAccount",
  { role: "runner", needsSession: true },
  accountChangeSchema,
  async ({ request, annotateAudit, ...context }, body) => {
    annotateAudit({ outcome: (["name", "email", "password"] as const).filter((name) => body[name] !== undefined).join(", ") });
    return toJsonResponse(await changeAccount(context, body, getClientAddress(request)), (value) => ({ member: value }));
  },
);
