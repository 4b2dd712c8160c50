import { consoleRoute } from "@/lib/server/bff/routes";
import { listMembers } from "@/lib/server/queries/members";
import { jsonAnswer } from "@/lib/server/requests/responses";
import { ok } from "@/lib/shared/result";

export const GET = consoleRoute("listMembers", "admin", async (context) => {
  const members = await listMembers(context);
  return members.ok ? ok(jsonAnswer({ members: members.value })) : members;
});
