import { memberChangeSchema } from "@/lib/contract/console";
import { changeMember, memberFacts, removeMember } from "@/lib/server/auth/members";
import { emptyAnswer, jsonAnswer } from "@/lib/server/bff/answers";
import { consoleBodyRoute, consoleRoute, idOf } from "@/lib/server/bff/console-route";
import { ok } from "@/lib/shared/result";

export const PUT = consoleBodyRoute("changeMember", { role: "admin", recent: true }, memberChangeSchema, async (asked, body) => {
  const id = idOf(asked);
  asked.note(await memberFacts(asked.viewer, id, body));
  const changed = await changeMember(asked.viewer, id, body);
  return changed.ok ? ok(jsonAnswer({ member: changed.value })) : changed;
});

export const DELETE = consoleRoute("removeMember", { role: "admin", recent: true }, async (asked) => {
  const id = idOf(asked);
  asked.note(await memberFacts(asked.viewer, id));
  const removed = await removeMember(asked.viewer, id);
  return removed.ok ? ok(emptyAnswer()) : removed;
});
