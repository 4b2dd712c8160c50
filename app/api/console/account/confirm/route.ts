import { confirmBodySchema } from "@/lib/contract/console";
import { confirmWithPassword } from "@/lib/server/auth/account";
import { consoleBodyRoute } from "@/lib/server/bff/routes";
import { clientAddress } from "@/lib/server/limits/attempt-limit";
import { toEmptyResponse } from "@/lib/server/requests/responses";

export const POST = consoleBodyRoute(
  "confirmSession",
  { role: "runner", session: true },
  confirmBodySchema,
  async ({ request, ...context }, { password }) => {
    return toEmptyResponse(await confirmWithPassword(context, password, clientAddress(request)));
  },
);
