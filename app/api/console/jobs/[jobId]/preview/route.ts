import { createFailure } from "@/lib/contract/failure";
import { guardedRoute } from "@/lib/server/bff/guard";
import { openConnection } from "@/lib/server/connections/access";
import { getConnectionParam } from "@/lib/server/requests/read-request";
import { getPreview } from "@/lib/server/responses/live-progress";
import { failed, ok } from "@/lib/shared/result";

/** The newest preview image of a running job. The parameter `v` is its version, so that browsers load new images. */
export const GET = guardedRoute(
  { action: "viewPreview", role: "viewer", needsConnection: true },
  async ({ request, params, ...context }) => {
    const access = await openConnection(context, getConnectionParam(request));
    if (!access.ok) return access;
    const preview = typeof params.jobId === "string" ? getPreview(access.value, params.jobId) : undefined;
    if (!preview) return failed(createFailure("NOT_FOUND", "This job has no preview."));
    return ok(new Response(preview.bytes, { headers: { "content-type": preview.type, "content-disposition": "inline" } }));
  },
);
