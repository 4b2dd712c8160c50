import { createOpenApiDocument } from "@/lib/contract/openapi/document";
import { consoleRoute } from "@/lib/server/bff/routes";
import { getConsoleUrl } from "@/lib/server/env";
import { createJsonResponse } from "@/lib/server/requests/responses";
import { ok } from "@/lib/shared/result";

/** The embedded service's document. The console's own /api has the same operations, with a console token instead of the service's key. */
export const GET = consoleRoute("readOpenApi", "viewer", async ({ composition, request }) => {
  const host = request.headers.get("host");
  return ok(createJsonResponse(createOpenApiDocument(getConsoleUrl(composition.env, host && `http://${host}`))));
});
