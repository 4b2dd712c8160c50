import { operations } from "@/lib/contract/operations";
import { guardedRoute } from "@/lib/server/bff/guard";
import { createFromKnownContent } from "@/lib/server/queries/assets";
import { toJsonResponse } from "@/lib/server/requests/responses";

const { name: action, role } = operations.createAssetFromHash;

/** POST /api/assets/from-hash for files that are hashed first. An unknown hash is a result here, not a failure. */
export const POST = guardedRoute({ action, role, needsConnection: true }, async (context) => {
  return toJsonResponse(await createFromKnownContent(context));
});
