import { connectionBodySchema } from "@/lib/contract/console";
import { consoleBodyRoute, consoleRoute } from "@/lib/server/bff/routes";
import { listConnectionViews } from "@/lib/server/connections/connection-views";
import { createConnection } from "@/lib/server/connections/manage-connections";
import { createJsonResponse } from "@/lib/server/requests/responses";
import { ok } from "@/lib/shared/result";

export const GET = consoleRoute("listConnections", "viewer", async (context) =>
  ok(createJsonResponse({ connections: await listConnectionViews(context) })),
);

export const POST = consoleBodyRoute(
  "createConnection",
  { role: "operator", needsRecentSignIn: true },
  connectionBodySchema,
  async ({ annotateAudit, ...context }, body) => {
    const result = await createConnection(context, body);
    if (!result.ok) return result;
    const { connection, check } = result.value;
    // Without a connection, nothing was added and the service was only checked.
    if (!connection) annotateAudit({ action: "checkConnection" });
    annotateAudit({
      connectionId: connection?.id,
      target: body.shared ? body.name : undefined,
      outcome: connection ? check.outcome : `${check.outcome}, not saved`,
    });
    return ok(createJsonResponse(result.value, connection ? 201 : 200));
  },
);
