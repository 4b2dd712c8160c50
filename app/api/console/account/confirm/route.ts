import { confirmBodySchema } from "@/lib/contract/console";
import { confirmWithPassword } from "@/lib/server/auth/account";
import { consoleBodyRoute } from "@/lib/server/bff/routes";
import { clientAddress } from "@/lib/server/limits/attempt-limit";
import { emptyAnswer } from "@/lib/server/requests/responses";
import { ok } from "@/lib/shared/result";

export const POST = consoleBodyRoute(
  "confirmSession",
  { role: "runner", session: true },
  confirmBodySchema,
  async ({ request, ...context }, { password }) => {
    const confirmed = await confirmWithPassword(context, password, clientAddress(request));
    return confirmed.ok ? ok(emptyAnswer()) : confirmed;
  },
);
