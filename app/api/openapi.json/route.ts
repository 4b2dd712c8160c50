import { openApiDocument } from "@/lib/contract/openapi/document";
import { jsonAnswer } from "@/lib/server/bff/answers";
import { consoleRoute } from "@/lib/server/bff/console-route";
import { consoleUrl } from "@/lib/server/env";
import { ok } from "@/lib/shared/result";

/** The embedded service's document; the console's own /api takes the same calls, with a token of this console instead of the service's key. */
export const GET = consoleRoute("readOpenApi", "viewer", async ({ console, request }) => {
  const host = request.headers.get("host");
  return ok(jsonAnswer(openApiDocument(consoleUrl(console.env, host && `http://${host}`))));
});
