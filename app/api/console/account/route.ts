import { accountChangeSchema } from "@/lib/contract/console";
import { createFailure } from "@/lib/contract/failure";
import { changeAccount } from "@/lib/server/auth/account";
import { consoleBodyRoute, consoleRoute } from "@/lib/server/bff/routes";
import { clientAddress } from "@/lib/server/limits/attempt-limit";
import { getAccount } from "@/lib/server/queries/members";
import { jsonResponse, toJsonResponse } from "@/lib/server/requests/responses";
import { failed, ok } from "@/lib/shared/result";

export const GET = consoleRoute("readAccount", "runner", async (context) => {
  const member = await getAccount(context);
  return member ? ok(jsonResponse({ member })) : failed(createFailure("UNAUTHORIZED", "Sign in first."));
});

export const PUT = consoleBodyRoute(
  "changeAccount",
  { role: "runner", session: true },
  accountChangeSchema,
  async ({ request, annotateAudit, ...context }, body) => {
    annotateAudit({ outcome: (["name", "email", "password"] as const).filter((name) => body[name] !== undefined).join(", ") });
    return toJsonResponse(await changeAccount(context, body, clientAddress(request)), (value) => ({ member: value }));
  },
);
