import { createFailure } from "@/lib/contract/failure";
import { hasRole } from "@/lib/contract/people/roles";
import { consoleRoute } from "@/lib/server/bff/routes";
import { describeShare } from "@/lib/server/queries/shares";
import { getIdParam } from "@/lib/server/requests/read-request";
import { emptyResponse } from "@/lib/server/requests/responses";
import { failed, ok } from "@/lib/shared/result";

/** For its author or an admin. */
export const DELETE = consoleRoute(
  "revokeShare",
  { role: "operator", session: true },
  async ({ params, viewer, composition, annotateAudit }) => {
    const id = getIdParam({ params });
    annotateAudit(await describeShare(composition, id));
    const memberId = hasRole(viewer.role, "admin") ? undefined : viewer.memberId;
    const title = await composition.store.shares.revoke(id, { now: composition.now(), memberId });
    if (title === undefined) return failed(createFailure("NOT_FOUND", "There is no such share, or it is revoked already."));
    return ok(emptyResponse());
  },
);
