// Sends an attempt and finds out what became of it; where the line broke on this side of the console, the console is asked.
// Guarantees: an attempt is sent once; asking after it sends nothing; what cannot be told stays unknown.

import { type Graph } from "@/lib/contract/schemas/graph";
import { type Attempt, type RunOutcome } from "./attempt";
import { type RunPorts } from "../run-ports";
import { judge, judgeAnswer, type Submission } from "./submission";

type Ports = Pick<RunPorts, "sendPrompt" | "reportSubmission">;

export async function sendAttempt(
  ports: Ports,
  attempt: Attempt,
  { submission, graph }: { submission: Submission; graph: Graph },
): Promise<RunOutcome> {
  const outcome = judge(await ports.sendPrompt(submission, attempt.key), graph);
  return outcome.kind === "unknown" && outcome.failure.code === "CONSOLE_UNREACHABLE" ? askAfter(ports, attempt) : outcome;
}

export async function askAfter(ports: Ports, attempt: Attempt): Promise<RunOutcome> {
  const report = await ports.reportSubmission(attempt.key);
  if (report.ok) {
    if (report.value.state === "accepted") return judgeAnswer(report.value.answer);
    if (report.value.state === "unknown") return { kind: "unknown", failure: { status: 0, ...report.value.failure } };
    return { kind: "lost", failure: { code: "NOT_FOUND", message: "", status: 404 } };
  }
  return { kind: report.failure.status === 404 ? "lost" : "unknown", failure: report.failure };
}
