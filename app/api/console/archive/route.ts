import { type ArchiveAnswer, archiveChoiceSchema, MAX_ARCHIVED_FILES } from "@/lib/contract/console";
import { countChosen } from "@/lib/server/archive/stream-archive";
import { guarded } from "@/lib/server/bff/guard";
import { openConnection } from "@/lib/server/connections/access";
import { getConnectionParam, readJson } from "@/lib/server/requests/read-request";
import { jsonResponse } from "@/lib/server/requests/responses";
import { ok } from "@/lib/shared/result";

/** Stores the choice, so that a plain link can fetch the file, even for long choices. */
export const POST = guarded({ action: "chooseArchive", role: "viewer", connection: true }, async ({ annotateAudit, ...context }) => {
  const access = await openConnection(context, getConnectionParam(context.request));
  if (!access.ok) return access;
  const choice = await readJson(context, archiveChoiceSchema);
  if (!choice.ok) return choice;
  const result = await countChosen(access.value, choice.value, context.request.signal);
  if (!result.ok) return result;
  const connectionId = access.value.connection.id;
  const id = await context.composition.store.archives.keep(
    context.viewer.memberId,
    { connectionId, choice: choice.value },
    context.composition.now(),
  );
  annotateAudit({ connectionId, outcome: `${result.value ?? "?"} assets` });
  const count = result.value;
  const responseBody: ArchiveAnswer = {
    id,
    ...(count !== undefined && { count: Math.min(count, MAX_ARCHIVED_FILES) }),
    isCut: (count ?? 0) > MAX_ARCHIVED_FILES,
  };
  return ok(jsonResponse(responseBody, 201));
});
