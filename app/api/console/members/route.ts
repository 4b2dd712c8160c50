import { consoleRoute } from "@/lib/server/bff/routes";
import { listMembers } from "@/lib/server/queries/members";
import { jsonOf } from "@/lib/server/requests/responses";

export const GET = consoleRoute("listMembers", "admin", async (context) => {
  return jsonOf(await listMembers(context), (value) => ({ members: value }));
});
