// Sends the copies of a run one after another, and reports the outcome of each.
// Guarantees: one key per copy, so that a copy makes one job at most, however often it is sent; a rate limit is waited out, nothing else
// is retried; copies that would meet the same refusal are not sent; after a stop, the copy that is being sent is finished.

import { meetsAll, patiently, type Work } from "@/lib/browser/bulk/bulk-calls";
import { type Failure } from "@/lib/contract/failure";
import { type Graph } from "@/lib/contract/schemas/graph";
import { type RunPorts } from "../run-ports";
import { type Attempt, type RunOutcome } from "../submit/attempt";
import { askAfter } from "../submit/submission";
import { judge, type Submission } from "../submit/submission";
import { type CopyOutcome, type Ending } from "./copies-state";

/** What one copy sends, made only when it is sent: a thousand graphs at once would take a thousand times the memory. */
export type Planned = { key: string; label: string; rerunOf?: string; make: () => { submission: Submission; graph: Graph } };

type Reports = {
  onSending: (key: string) => void;
  /** Undefined: nothing was sent. */
  onOutcome: (key: string, outcome: CopyOutcome | undefined) => void;
  onWait: Work["onWait"];
};
type Sender = Reports & {
  ports: Pick<RunPorts, "sendPrompt" | "reportSubmission">;
  attempt: Omit<Attempt, "key">;
  act: string;
  signal: AbortSignal;
};

/** After this many failures in a row, the rest is expected to fail in the same way. */
const MOST_FAILING = 3;

export async function sendCopies(copies: readonly Planned[], sender: Sender): Promise<Ending> {
  let failing = 0;
  for (const copy of copies) {
    if (sender.signal.aborted) return { kind: "stopped" };
    sender.onSending(copy.key);
    const outcome = await sendOne(copy, sender);
    // The wait for a rate limit was cut short: the copy was refused, and nothing was started.
    const isUnsent = outcome.kind === "lost" || (sender.signal.aborted && outcome.kind === "refused" && outcome.failure.status === 429);
    sender.onOutcome(copy.key, isUnsent ? undefined : toCopyOutcome(outcome));
    if (outcome.kind === "accepted") {
      failing = 0;
      continue;
    }
    if (isUnsent) return outcome.kind === "lost" ? { kind: "refused", failure: networkGone } : { kind: "stopped" };
    if (isForAll(outcome)) return { kind: "refused", failure: outcome.failure };
    failing += 1;
    if (failing === MOST_FAILING) return { kind: "failing", failure: outcome.failure };
  }
  return { kind: "done" };
}

const networkGone: Failure = { code: "CONSOLE_UNREACHABLE", message: "", status: 0 };

async function sendOne({ key, label, rerunOf, make }: Planned, { ports, attempt, act, signal, onWait }: Sender): Promise<RunOutcome> {
  const { submission, graph } = make();
  const answer = await patiently(() => ports.sendPrompt(submission, key, { label, act, rerunOf }), { signal, onWait });
  const outcome = judge(answer, graph);
  return outcome.kind === "unknown" && outcome.failure.code === "CONSOLE_UNREACHABLE" ? askAfter(ports, { ...attempt, key }) : outcome;
}

/** Whether the refusal meets every copy: a copy's value may be wrong for it alone; session, rights, plan and queue are the same for all. */
function isForAll(outcome: Exclude<RunOutcome, { kind: "accepted" }>): boolean {
  if (outcome.kind === "invalid") return false;
  return outcome.kind === "unknown" ? outcome.failure.code === "CONSOLE_UNREACHABLE" : meetsAll(outcome.failure);
}

export function toCopyOutcome(outcome: RunOutcome): CopyOutcome {
  return outcome.kind === "accepted"
    ? { kind: "accepted", jobId: outcome.jobId, nodesRefused: Object.keys(outcome.errors).length }
    : { kind: outcome.kind, failure: outcome.failure };
}
