import { usageParams } from "@/lib/contract/members/usage";
import { createQuerySchema } from "@/lib/contract/schemas/lenient";
import { consoleRoute } from "@/lib/server/bff/routes";
import { readUsage } from "@/lib/server/queries/usage";
import { getSearchParams, readQuery } from "@/lib/server/requests/read-request";
import { createJsonResponse } from "@/lib/server/requests/responses";
import { ok } from "@/lib/shared/result";

const schema = createQuerySchema(usageParams);

/** Returns all members' usage to admins, and their own usage to other members. */
export const GET = consoleRoute("readUsage", "viewer", async ({ request, ...context }) => {
  const query = readQuery(getSearchParams(request), schema);
  return query.ok ? ok(createJsonResponse(await readUsage(context, query.value))) : query;
});
