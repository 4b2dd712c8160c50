import { webhookSchema } from "@/lib/contract/webhooks";
import { consoleBodyRoute, consoleRoute } from "@/lib/server/bff/routes";
import { jsonResponse, toJsonResponse } from "@/lib/server/requests/responses";
import { createWebhook, listWebhooks } from "@/lib/server/webhooks/settings";
import { ok } from "@/lib/shared/result";

export const GET = consoleRoute("listWebhooks", { role: "admin", session: true }, async ({ composition }) =>
  ok(jsonResponse({ webhooks: await listWebhooks(composition) })),
);

export const POST = consoleBodyRoute(
  "addWebhook",
  { role: "admin", recent: true },
  webhookSchema,
  async ({ annotateAudit, composition }, body) => {
    annotateAudit({ target: body.name, connectionId: body.connection, outcome: new URL(body.url).origin });
    return toJsonResponse(await createWebhook(composition, body), (value) => value, 201);
  },
);
