import { describeMember } from "@/lib/contract/audit/audit";
import { invitationAcceptSchema } from "@/lib/contract/console";
import { acceptInvitation } from "@/lib/server/auth/members";
import { toActor } from "@/lib/server/bff/guard";
import { tokenRoute } from "@/lib/server/bff/routes";
import { createJsonResponse } from "@/lib/server/requests/responses";
import { ok } from "@/lib/shared/result";

export const POST = tokenRoute("acceptInvitation", invitationAcceptSchema, async ({ annotateAudit, composition }, body) => {
  const result = await acceptInvitation(composition, body);
  if (!result.ok) return result;
  const { member, isNew, invitedBy } = result.value;
  annotateAudit({
    by: toActor(member),
    ...(isNew ? describeMember(member, { role: { to: member.role }, invitedBy }) : { action: "resetPassword" }),
  });
  return ok(createJsonResponse({ id: member.id, email: member.email }, isNew ? 201 : 200));
});
