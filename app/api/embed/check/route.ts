import { type EmbedCheck, embedCheckQuerySchema } from "@/lib/contract/embed/embedding";
import { publicRoute } from "@/lib/server/bff/guard";
import { hasProbeCookie } from "@/lib/server/embed/sessions";
import { getSearchParams, readQuery } from "@/lib/server/requests/read-request";
import { createJsonResponse } from "@/lib/server/requests/responses";
import { ok } from "@/lib/shared/result";

/** Helps host pages to diagnose an empty frame. Requires no credential, because the response contains no secrets. */
export const GET = publicRoute("embedCheck", async ({ request, composition }) => {
  const query = readQuery(getSearchParams(request), embedCheckQuerySchema);
  if (!query.ok) return query;
  const host = await composition.store.embedHosts.get(query.value.host);
  const embedCheck: EmbedCheck = {
    cookie: hasProbeCookie(composition.env, request.headers),
    known: host !== undefined,
    framing: host?.origins.includes(query.value.origin) ?? false,
    now: composition.now(),
  };
  return ok(createJsonResponse(embedCheck, 200, new Headers({ "access-control-allow-origin": "*" })));
});
