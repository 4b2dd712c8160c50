import { invitationBodySchema } from "@/lib/contract/console";
import { invite, listInvitationItems } from "@/lib/server/auth/members";
import { consoleBodyRoute, consoleRoute } from "@/lib/server/bff/routes";
import { jsonResponse, toJsonResponse } from "@/lib/server/requests/responses";
import { ok } from "@/lib/shared/result";

export const GET = consoleRoute("listInvitations", "admin", async ({ composition }) =>
  ok(jsonResponse({ invitations: await listInvitationItems(composition) })),
);

export const POST = consoleBodyRoute(
  "inviteMember",
  { role: "admin", recent: true },
  invitationBodySchema,
  async ({ request, annotateAudit, ...context }, body) => {
    annotateAudit({ target: body.email, outcome: body.role });
    return toJsonResponse(await invite(context, body, request.headers.get("origin")), (value) => value, 201);
  },
);
