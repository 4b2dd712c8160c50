import { embedHostSchema } from "@/lib/contract/embed/embedding";
import { consoleBodyRoute, consoleRoute } from "@/lib/server/bff/routes";
import { createEmbedHost, listEmbedHosts } from "@/lib/server/embed/hosts";
import { createJsonResponse, toJsonResponse } from "@/lib/server/requests/responses";
import { ok } from "@/lib/shared/result";

export const GET = consoleRoute("listEmbedHosts", "admin", async ({ composition }) =>
  ok(createJsonResponse({ hosts: await listEmbedHosts(composition) })),
);

export const POST = consoleBodyRoute(
  "addEmbedHost",
  { role: "admin", needsRecentSignIn: true },
  embedHostSchema,
  async ({ viewer, annotateAudit, composition }, body) => {
    annotateAudit({ target: body.name, outcome: body.origins.join(", ").slice(0, 500) });
    return toJsonResponse(await createEmbedHost(composition, viewer, body), (value) => value, 201);
  },
);
