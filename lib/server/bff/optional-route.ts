// A read that not every service offers, for pages that work without it: if the service lacks it, the answer is null and not a failure, so
// browsers do not log an error on each page. Guarantees: an outage, or a missing connection, is still a failure.

import "server-only";
import { CONNECTION_PARAMETER } from "@/lib/contract/console";
import { lacksOperation } from "@/lib/contract/failure";
import { type Operation } from "@/lib/contract/operation";
import { ok } from "@/lib/shared/result";
import { findConnection } from "../connections/access";
import { jsonAnswer } from "./answers";
import { runOperation } from "./bff-route";
import { guarded, type Handler } from "./guard";
import { searchOf } from "./read-request";

export function optionalRoute(operation: Operation): Handler {
  return guarded({ action: operation.name, role: operation.role, connection: true }, async (asked) => {
    const known = await findConnection(asked.viewer, searchOf(asked.request).get(CONNECTION_PARAMETER) ?? undefined);
    if (!known.ok) return known;
    const result = await runOperation(operation, asked, ok({}));
    return !result.ok && lacksOperation(result.failure) ? ok(jsonAnswer(null)) : result;
  });
}
