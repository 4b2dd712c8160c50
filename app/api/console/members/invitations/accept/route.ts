import { invitationAcceptSchema } from "@/lib/contract/console";
import { join } from "@/lib/server/auth/invitations";
import { toViewer } from "@/lib/server/auth/viewer";
import { jsonAnswer } from "@/lib/server/bff/answers";
import { tokenRoute } from "@/lib/server/bff/console-route";
import { ok } from "@/lib/shared/result";

export const POST = tokenRoute("acceptInvitation", invitationAcceptSchema, async ({ note }, body) => {
  const member = await join(body);
  if (member.ok) note({ viewer: toViewer(member.value) });
  return member.ok ? ok(jsonAnswer({ id: member.value.id, email: member.value.email }, 201)) : member;
});
