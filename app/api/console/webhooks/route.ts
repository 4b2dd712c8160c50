import { webhookSchema } from "@/lib/contract/webhooks";
import { consoleBodyRoute, consoleRoute } from "@/lib/server/bff/routes";
import { createJsonResponse, toJsonResponse } from "@/lib/server/requests/responses";
import { createWebhook, listWebhooks } from "@/lib/server/webhooks/settings";
import { ok } from "@/lib/shared/result";

export const GET = consoleRoute("listWebhooks", { role: "admin", needsSession: true }, async ({ composition }) =>
  ok(createJsonResponse({ webhooks: await listWebhooks(composition) })),
);

export const POST = consoleBodyRoute(
  "addWebhook",
  { role: "admin", needsRecentSignIn: true },
  webhookSchema,
  async ({ annotateAudit, composition }, body) => {
    annotateAudit({ target: body.name, connectionId: body.connection, outcome: new URL(body.url).origin });
    return toJsonResponse(await createWebhook(composition, body), (value) => value, 201);
  },
);
