// Sends a press and finds out what became of it; where the line broke on this side of the console, the console is asked.
// Guarantees: a press is sent once; asking after it sends nothing; what nobody can tell stays unknown.

import { type Graph } from "@/lib/contract/schemas/graph";
import { type Press } from "./press";
import { type RunPorts } from "./run-ports";
import { judge, judgeAnswer, type Submission } from "./submission";
import { type RunOutcome } from "./run-outcome";

type Ports = Pick<RunPorts, "sendPrompt" | "reportPress">;

export async function sendPress(
  ports: Ports,
  press: Press,
  { submission, graph }: { submission: Submission; graph: Graph },
): Promise<RunOutcome> {
  const outcome = judge(await ports.sendPrompt(submission, press.key), graph);
  return outcome.kind === "unknown" && outcome.failure.code === "CONSOLE_UNREACHABLE" ? askAfter(ports, press) : outcome;
}

export async function askAfter(ports: Ports, press: Press): Promise<RunOutcome> {
  const report = await ports.reportPress(press.key);
  if (report.ok) {
    if (report.value.state === "accepted") return judgeAnswer(report.value.answer);
    if (report.value.state === "unknown") return { kind: "unknown", failure: { status: 0, ...report.value.failure } };
    return { kind: "lost", failure: { code: "NOT_FOUND", message: "", status: 404 } };
  }
  return { kind: report.failure.status === 404 ? "lost" : "unknown", failure: report.failure };
}
