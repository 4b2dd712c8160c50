import { invitationAcceptSchema } from "@/lib/contract/console";
import { join } from "@/lib/server/auth/invitations";
import { jsonAnswer } from "@/lib/server/bff/answers";
import { tokenRoute } from "@/lib/server/bff/console-route";
import { ok } from "@/lib/shared/result";

export const POST = tokenRoute("acceptInvitation", invitationAcceptSchema, async (_asked, body) => {
  const member = await join(body);
  return member.ok ? ok(jsonAnswer({ id: member.value.id, email: member.value.email }, 201)) : member;
});
