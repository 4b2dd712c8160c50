import { invitationBodySchema } from "@/lib/contract/console";
import { inviteMember, listInvitationItems } from "@/lib/server/auth/members";
import { consoleBodyRoute, consoleRoute } from "@/lib/server/bff/routes";
import { createJsonResponse, toJsonResponse } from "@/lib/server/requests/responses";
import { ok } from "@/lib/shared/result";

export const GET = consoleRoute("listInvitations", "admin", async ({ composition }) =>
  ok(createJsonResponse({ invitations: await listInvitationItems(composition) })),
);

export const POST = consoleBodyRoute(
  "inviteMember",
  { role: "admin", needsRecentSignIn: true },
  invitationBodySchema,
  async ({ request, annotateAudit, ...context }, body) => {
    annotateAudit({ target: body.email, outcome: body.role });
    return toJsonResponse(await inviteMember(context, body, request.headers.get("origin")), (value) => value, 201);
  },
);
