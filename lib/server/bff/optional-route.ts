// A read that not every service has, for pages that do without it: that this service lacks it is an answer here, null, and no failure, so
// that a browser does not log each page as an error. Guarantees: an outage stays a failure; a connection that is not there does too.

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
