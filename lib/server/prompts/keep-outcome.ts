// Stores what became of a submission.
// Guarantees: what the store does not take while it is away or its disk is full is stored later; until then this process answers from
// memory and sends nothing with that key, and the others wait.

import "server-only";
import { mayHaveStarted } from "@/lib/contract/workflow/submission";
import { sleep } from "@/lib/shared/async";
import { isFullDisk } from "@/lib/shared/database/disk-reserve";
import { codeOf, isStoreAway } from "@/lib/shared/error-codes";
import { type Composition } from "../composition-type";
import { type Attempt } from "../store/jobs/submissions";
import { toKept } from "./submission-outcome";
import { type SubmissionOutcome } from "./submission-types";

const AGAIN_MS = 1000;

type Console = Pick<Composition, "store" | "log" | "submissionsInFlight">;
type Ended = { contentHash: string; outcome: SubmissionOutcome };

export function flightId(memberId: string, key: string): string {
  return `${memberId} ${key}`;
}

export async function keepOutcome(console: Console, attempt: Attempt, ended: Ended): Promise<void> {
  try {
    await store(console, attempt, ended.outcome);
  } catch (err) {
    console.log.error({ err }, "what became of a submission could not be stored");
    // Without the flight of this attempt the console is being stopped.
    if (mayPass(err) && console.submissionsInFlight.has(flightId(attempt.memberId, attempt.key))) void keepLater(console, attempt, ended);
  }
}

/** Until it is stored the submission counts as under way, so that other consoles wait for it. */
async function keepLater(console: Console, attempt: Attempt, { contentHash, outcome }: Ended): Promise<void> {
  const flights = console.submissionsInFlight;
  const id = flightId(attempt.memberId, attempt.key);
  const flight = { contentHash, outcome: Promise.resolve(outcome) };
  flights.set(id, flight);
  const end = await console.store.peers.beginWork(id);
  try {
    for (let isOver = false; !isOver;) {
      await sleep(AGAIN_MS, { unref: true });
      // The console was stopped.
      if (flights.get(id) !== flight) return;
      try {
        await store(console, attempt, outcome);
        isOver = true;
      } catch (err) {
        isOver = !mayPass(err);
        if (isOver) console.log.error({ err }, "what became of a submission could not be stored");
      }
    }
    flights.delete(id);
  } finally {
    await end();
  }
}

/** A disk or a database that fails for a time: locked, out of reach, or in conflict with another writer. */
const passing = /^(SQLITE_(BUSY|LOCKED|IOERR|READONLY|CANTOPEN|PROTOCOL)|40001$|40P01$|55P03$)/;

function mayPass(error: unknown): boolean {
  return isStoreAway(error) || isFullDisk(error) || passing.test(String(codeOf(error)));
}

async function store({ store: { submissions } }: Console, attempt: Attempt, outcome: SubmissionOutcome): Promise<void> {
  if (outcome.ok) await submissions.accepted(attempt, toKept(outcome.value));
  else if (mayHaveStarted(outcome.failure)) await submissions.unknown(attempt, outcome.failure);
  else await submissions.forget(attempt);
}
