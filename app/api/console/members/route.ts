import { consoleRoute } from "@/lib/server/bff/routes";
import { listMembers } from "@/lib/server/queries/members";
import { toJsonResponse } from "@/lib/server/requests/responses";

export const GET = consoleRoute("listMembers", "admin", async (context) => {
  return toJsonResponse(await listMembers(context), (value) => ({ members: value }));
});
