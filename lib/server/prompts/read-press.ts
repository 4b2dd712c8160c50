// What became of a press whose answer the browser did not get: a page that was reloaded, a line that broke.
// Guarantees: sends nothing; waits for a press that is still on its way; tells each member of their own presses only.

import "server-only";
import { type Failure } from "@/lib/contract/failure";
import { type PressReport } from "@/lib/contract/press";
import { failed, ok, type Result } from "@/lib/shared/result";
import { type Asked, refusal } from "../bff/guard";
import { outcomeOfKept, reportOf } from "./press-outcome";
import { flightId } from "./submit-once";

export async function readPress({ console, viewer }: Asked, key: string): Promise<Result<PressReport, Failure>> {
  const flying = console.pressesInFlight.get(flightId(viewer.memberId, key));
  if (flying) return ok(reportOf(await flying.outcome));
  const kept = await console.store.presses.find({ memberId: viewer.memberId, key });
  return kept ? ok(reportOf(outcomeOfKept(kept))) : failed(refusal("NOT_FOUND", "No press of this key was sent on to a service."));
}
