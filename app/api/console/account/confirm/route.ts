import { confirmBodySchema } from "@/lib/contract/console";
import { confirmWithPassword } from "@/lib/server/auth/account";
import { consoleBodyRoute } from "@/lib/server/bff/routes";
import { getClientAddress } from "@/lib/server/limits/attempt-limit";
import { toEmptyResponse } from "@/lib/server/requests/responses";

export const POST = consoleBodyRoute(
  "confirmSession",
  { role: "runner", needsSession: true },
  confirmBodySchema,
  async ({ request, ...context }, { password }) => {
    return toEmptyResponse(await confirmWithPassword(context, password, getClientAddress(request)));
  },
);
