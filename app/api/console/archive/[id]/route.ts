import { createFailure } from "@/lib/contract/failure";
import { streamArchive } from "@/lib/server/archive/stream-archive";
import { guardedRoute } from "@/lib/server/bff/guard";
import { openConnection } from "@/lib/server/connections/access";
import { failed, ok } from "@/lib/shared/result";

/** Uses the connection that was stored with the choice and ignores a connection in the URL. */
export const GET = guardedRoute(
  { action: "fetchArchive", role: "viewer", needsConnection: false },
  async ({ request, params, ...context }) => {
    const archive = await context.composition.store.archives.find(context.viewer.memberId, String(params.id));
    if (!archive) return failed(createFailure("NOT_FOUND", "This download doesn't exist. Choose the assets again."));
    const access = await openConnection(context, archive.connectionId);
    if (!access.ok) return access;
    const now = context.composition.now();
    const body = streamArchive(access.value, { choice: archive.choice, now, signal: request.signal });
    const name = `assets-${new Date(now).toISOString().slice(0, 10)}.zip`;
    const headers = { "content-type": "application/zip", "content-disposition": `attachment; filename="${name}"` };
    return ok(new Response(body, { headers }));
  },
);
