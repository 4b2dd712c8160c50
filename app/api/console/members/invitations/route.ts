import { invitationBodySchema } from "@/lib/contract/console";
import { invite } from "@/lib/server/auth/invitations";
import { jsonAnswer } from "@/lib/server/bff/answers";
import { consoleBodyRoute } from "@/lib/server/bff/console-route";
import { ok } from "@/lib/shared/result";

export const POST = consoleBodyRoute("inviteMember", "admin", invitationBodySchema, async ({ request, viewer, note }, body) => {
  note({ target: body.email, outcome: body.role });
  const invitation = await invite(viewer, body, request.headers.get("origin"));
  return invitation.ok ? ok(jsonAnswer(invitation.value, 201)) : invitation;
});
