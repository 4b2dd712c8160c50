// What became of a submission whose answer the browser did not get: a page that was reloaded, a line that broke.
// Guarantees: sends nothing; waits for a submission that is still on its way; tells each member of their own submissions only.

import "server-only";
import { type Failure } from "@/lib/contract/failure";
import { type SubmissionReport } from "@/lib/contract/workflow/submission";
import { failed, ok, type Result } from "@/lib/shared/result";
import { type Asked, refusal } from "../bff/guard";
import { outcomeOfKept, reportOf } from "./submission-outcome";
import { findLanded, flightId } from "./submit-once";

export async function readSubmission(asked: Asked, key: string): Promise<Result<SubmissionReport, Failure>> {
  const { console, viewer } = asked;
  const flying = console.submissionsInFlight.get(flightId(viewer.memberId, key));
  if (flying) return ok(reportOf(await flying.outcome));
  const kept = await findLanded(asked, key);
  return kept ? ok(reportOf(outcomeOfKept(kept))) : failed(refusal("NOT_FOUND", "No submission of this key was sent on to a service."));
}
