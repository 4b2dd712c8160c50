import { createFailure } from "@/lib/contract/failure";
import { hasRole } from "@/lib/contract/members/roles";
import { consoleRoute } from "@/lib/server/bff/routes";
import { describeShare } from "@/lib/server/queries/shares";
import { getIdParam } from "@/lib/server/requests/read-request";
import { createEmptyResponse } from "@/lib/server/requests/responses";
import { failed, ok } from "@/lib/shared/result";

/** Only the share's author or an admin can revoke it. */
export const DELETE = consoleRoute(
  "revokeShare",
  { role: "operator", needsSession: true },
  async ({ params, viewer, composition, annotateAudit }) => {
    const id = getIdParam({ params });
    annotateAudit(await describeShare(composition, id));
    const memberId = hasRole(viewer.role, "admin") ? undefined : viewer.memberId;
    const title = await composition.store.shares.revoke(id, { now: composition.now(), memberId });
    if (title === undefined) return failed(createFailure("NOT_FOUND", "This share doesn't exist or is already revoked."));
    return ok(createEmptyResponse());
  },
);
