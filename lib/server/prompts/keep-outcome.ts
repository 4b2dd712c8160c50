// Stores what became of a submission.
// Guarantees: what the store does not take is stored later; until then this process answers from memory, and sends nothing with that key.

import "server-only";
import { mayHaveStarted } from "@/lib/contract/workflow/submission";
import { type Composition } from "../composition-type";
import { type Submission } from "../store/jobs/submissions";
import { toKept } from "./submission-outcome";
import { type SubmissionOutcome } from "./submission-types";

const AGAIN_MS = 1000;

type Console = Pick<Composition, "store" | "log" | "submissionsInFlight">;
type Ended = { contentHash: string; outcome: SubmissionOutcome };

export function flightId(memberId: string, key: string): string {
  return `${memberId} ${key}`;
}

export async function keepOutcome(console: Console, submission: Submission, ended: Ended): Promise<void> {
  try {
    await store(console, submission, ended.outcome);
  } catch (err) {
    console.log.error({ err }, "what became of a submission could not be stored yet");
    void keepLater(console, submission, ended);
  }
}

async function keepLater(console: Console, submission: Submission, { contentHash, outcome }: Ended): Promise<void> {
  const flights = console.submissionsInFlight;
  const id = flightId(submission.memberId, submission.key);
  const flight = { contentHash, outcome: Promise.resolve(outcome) };
  flights.set(id, flight);
  for (let isStored = false; !isStored;) {
    await new Promise((resolve) => setTimeout(resolve, AGAIN_MS).unref());
    // The console was stopped.
    if (flights.get(id) !== flight) return;
    isStored = await store(console, submission, outcome).then(
      () => true,
      () => false,
    );
  }
  flights.delete(id);
}

async function store({ store: { submissions } }: Console, submission: Submission, outcome: SubmissionOutcome): Promise<void> {
  if (outcome.ok) await submissions.accepted(submission, toKept(outcome.value));
  else if (mayHaveStarted(outcome.failure)) await submissions.unknown(submission, outcome.failure);
  else await submissions.forget(submission);
}
