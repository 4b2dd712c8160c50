import { type ArchiveResponse, archiveSelectionSchema, MAX_ARCHIVED_FILES } from "@/lib/contract/console";
import { countChosenAssets } from "@/lib/server/archive/stream-archive";
import { guardedRoute } from "@/lib/server/bff/guard";
import { openConnection } from "@/lib/server/connections/access";
import { getConnectionParam, readJson } from "@/lib/server/requests/read-request";
import { createJsonResponse } from "@/lib/server/requests/responses";
import { ok } from "@/lib/shared/result";

/** Stores the selection of assets, so that a plain link can download any number of them. */
export const POST = guardedRoute(
  { action: "chooseArchive", role: "viewer", needsConnection: true },
  async ({ annotateAudit, ...context }) => {
    const access = await openConnection(context, getConnectionParam(context.request));
    if (!access.ok) return access;
    const choice = await readJson(context, archiveSelectionSchema);
    if (!choice.ok) return choice;
    const result = await countChosenAssets(access.value, choice.value, context.request.signal);
    if (!result.ok) return result;
    const connectionId = access.value.connection.id;
    const id = await context.composition.store.archives.save(
      context.viewer.memberId,
      { connectionId, choice: choice.value },
      context.composition.now(),
    );
    annotateAudit({ connectionId, outcome: `${result.value ?? "?"} assets` });
    const count = result.value;
    const responseBody: ArchiveResponse = {
      id,
      ...(count !== undefined && { count: Math.min(count, MAX_ARCHIVED_FILES) }),
      isCut: (count ?? 0) > MAX_ARCHIVED_FILES,
    };
    return ok(createJsonResponse(responseBody, 201));
  },
);
