import { jsonAnswer } from "@/lib/server/bff/answers";
import { guarded } from "@/lib/server/bff/guard";
import { searchOf } from "@/lib/server/bff/read-request";
import { readsFiles } from "@/lib/server/files/file-abilities";
import { ok } from "@/lib/shared/result";

/** What the service can do with the files of a folder, beyond listing and writing them. */
export const GET = guarded({ action: "viewFileAbilities", role: "viewer", connection: true }, async ({ request, viewer }) => {
  const abilities = await readsFiles(viewer, searchOf(request), request.signal);
  return abilities.ok ? ok(jsonAnswer(abilities.value)) : abilities;
});
