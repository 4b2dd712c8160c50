// The result of a submission, and how it is answered: the first answer again, never a second job.

import "server-only";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { objectOf, parseJson } from "@/lib/contract/json/json";
import { mayHaveStarted, type SubmissionReport } from "@/lib/contract/workflow/submission";
import { failed, ok } from "@/lib/shared/result";
import { refusal } from "../bff/guard";
import { type KeptSubmission } from "../store/jobs/submissions";
import { type SubmissionOutcome } from "./submission-types";

const LONGEST_ANSWER = 64 * 1024;

/** For a submission begun earlier, by this process or by one that has ended. */
export function outcomeOfKept({ answer, failure }: KeptSubmission): SubmissionOutcome {
  if (answer !== undefined) return ok(answer);
  if (failure) return failed({ ...failure, status: 0 });
  return failed(refusal("INTERNAL", "The console ended while it waited for the service's answer."));
}

export function reportOf(outcome: SubmissionOutcome): SubmissionReport {
  if (outcome.ok) return { state: "accepted", answer: parseJson(outcome.value) };
  const { code, message } = outcome.failure;
  return mayHaveStarted(outcome.failure) ? { state: "unknown", failure: { code, message } } : { state: "refused" };
}

/** What is kept of an answer: only the job's id, if the answer is too long. */
export function toKept(answer: string): string {
  return answer.length <= LONGEST_ANSWER ? answer : writeExactJson({ prompt_id: objectOf(parseJson(answer))?.prompt_id });
}
