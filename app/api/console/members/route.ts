import { toMemberView } from "@/lib/server/auth/members";
import { jsonAnswer } from "@/lib/server/bff/answers";
import { consoleRoute } from "@/lib/server/bff/console-route";
import { ok } from "@/lib/shared/result";

export const GET = consoleRoute("listMembers", "admin", async ({ console }) => {
  const members = await console.store.members.list();
  return ok(jsonAnswer({ members: members.map(toMemberView) }));
});
