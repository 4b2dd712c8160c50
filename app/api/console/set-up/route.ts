import { describeMember } from "@/lib/contract/audit/audit";
import { setUpBodySchema } from "@/lib/contract/console";
import { createOwner } from "@/lib/server/auth/sign-in";
import { toActor } from "@/lib/server/bff/guard";
import { tokenRoute } from "@/lib/server/bff/routes";
import { createJsonResponse } from "@/lib/server/requests/responses";
import { ok } from "@/lib/shared/result";

export const POST = tokenRoute("setUp", setUpBodySchema, async ({ composition, annotateAudit }, body) => {
  const owner = await createOwner(composition, body);
  if (owner.ok) annotateAudit({ by: toActor(owner.value), ...describeMember(owner.value, { role: { to: owner.value.role } }) });
  return owner.ok ? ok(createJsonResponse({ id: owner.value.id }, 201)) : owner;
});
