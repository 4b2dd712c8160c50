import { memberChangeSchema } from "@/lib/contract/console";
import { changeMember, memberFacts, removeMember } from "@/lib/server/auth/members";
import { consoleBodyRoute, consoleRoute } from "@/lib/server/bff/routes";
import { type AuthedContext } from "@/lib/server/context";
import { idOf } from "@/lib/server/requests/read-request";
import { emptyAnswer, jsonAnswer } from "@/lib/server/requests/responses";
import { ok } from "@/lib/shared/result";

const needs = { role: "admin", recent: true, about: (asked: AuthedContext) => memberFacts(asked, idOf(asked)) } as const;

export const PUT = consoleBodyRoute("changeMember", needs, memberChangeSchema, async (asked, body) => {
  const id = idOf(asked);
  asked.annotateAudit(await memberFacts(asked, id, body));
  const changed = await changeMember(asked, id, body);
  return changed.ok ? ok(jsonAnswer({ member: changed.value })) : changed;
});

export const DELETE = consoleRoute("removeMember", needs, async (asked) => {
  const id = idOf(asked);
  asked.annotateAudit(await memberFacts(asked, id));
  const removed = await removeMember(asked, id);
  return removed.ok ? ok(emptyAnswer()) : removed;
});
