// What is known of a submission, as types, so that the composition needs none of the parts that use them.

import "server-only";
import { type Failure } from "@/lib/contract/failure";
import { type Result } from "@/lib/shared/result";

/** The service's answer as JSON text, or why there is none. */
export type SubmissionOutcome = Result<string, Failure>;
/** Submissions of this process that are not answered yet, by member and key. */
export type SubmissionsInFlight = Map<string, { contentHash: string; outcome: Promise<SubmissionOutcome> }>;
