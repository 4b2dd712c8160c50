import { memberChangeSchema } from "@/lib/contract/console";
import { changeMember, describeMemberChange, removeMember } from "@/lib/server/auth/members";
import { consoleBodyRoute, consoleRoute } from "@/lib/server/bff/routes";
import { type AuthedContext } from "@/lib/server/context";
import { idOf } from "@/lib/server/requests/read-request";
import { emptyOf, jsonOf } from "@/lib/server/requests/responses";

const needs = { role: "admin", recent: true, about: (context: AuthedContext) => describeMemberChange(context, idOf(context)) } as const;

export const PUT = consoleBodyRoute("changeMember", needs, memberChangeSchema, async (context, body) => {
  const id = idOf(context);
  context.annotateAudit(await describeMemberChange(context, id, body));
  return jsonOf(await changeMember(context, id, body), (value) => ({ member: value }));
});

export const DELETE = consoleRoute("removeMember", needs, async (context) => {
  const id = idOf(context);
  context.annotateAudit(await describeMemberChange(context, id));
  return emptyOf(await removeMember(context, id));
});
