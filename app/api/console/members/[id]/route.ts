import { memberChangeSchema } from "@/lib/contract/console";
import { changeMember, describeMemberChange, removeMember } from "@/lib/server/auth/members";
import { consoleBodyRoute, consoleRoute } from "@/lib/server/bff/routes";
import { type AuthedContext } from "@/lib/server/context";
import { getIdParam } from "@/lib/server/requests/read-request";
import { toEmptyResponse, toJsonResponse } from "@/lib/server/requests/responses";

const requirements = {
  role: "admin",
  needsRecentSignIn: true,
  describeTarget: (context: AuthedContext) => describeMemberChange(context, getIdParam(context)),
} as const;

export const PUT = consoleBodyRoute("changeMember", requirements, memberChangeSchema, async (context, body) => {
  const id = getIdParam(context);
  context.annotateAudit(await describeMemberChange(context, id, body));
  return toJsonResponse(await changeMember(context, id, body), (value) => ({ member: value }));
});

export const DELETE = consoleRoute("removeMember", requirements, async (context) => {
  const id = getIdParam(context);
  context.annotateAudit(await describeMemberChange(context, id));
  return toEmptyResponse(await removeMember(context, id));
});
