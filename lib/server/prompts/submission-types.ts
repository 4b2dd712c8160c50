// Types of what is known about a submission, so that the composition imports none of the parts that use them.

import "server-only";
import { type Failure } from "@/lib/contract/failure";
import { type Result } from "@/lib/shared/result";

/** The service's answer as JSON text, or why there is none. */
export type SubmissionOutcome = Result<string, Failure>;
/** This process's submissions without an answer yet, or with one that is not stored yet, by member and key. */
export type SubmissionsInFlight = Map<string, { contentHash: string; outcome: Promise<SubmissionOutcome> }>;
