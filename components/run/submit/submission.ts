// What Run sends, that it is sent once, and its outcome. If the connection to the console broke, the console is asked about the attempt.
// Guarantees: an attempt is sent once; asking about it sends nothing; an answer that never came is "unknown", neither success nor failure.

import { type Failure, readNodeErrors } from "@/lib/contract/failure";
import { withSpellingsOf } from "@/lib/contract/json/exact-json";
import { type JsonObject, objectOf } from "@/lib/contract/json/json";
import { own } from "@/lib/contract/json/own";
import { type NodeErrors } from "@/lib/contract/schemas/execution";
import { type Graph } from "@/lib/contract/schemas/graph";
import { readPlaces } from "@/lib/contract/secrets/secret-places";
import { mayHaveStarted, type SubmissionReport, submittedJob } from "@/lib/contract/workflow/submission";
import { drawingIn } from "@/lib/contract/workflow/workflow-name";
import { type Result } from "@/lib/shared/result";
import { mergedExtra, readExtra } from "../form/extra-data";
import { missingClassErrors } from "../form/node-problems";
import { type OpenWorkflow } from "../workflow/opened";
import { type InEditorFile, withEditorFile } from "../workflow/use-editor-file";
import { withWrittenNames } from "../workflow/written-names";
import { type Attempt, type RunOutcome } from "./attempt";

export type Submission = {
  prompt: Graph;
  /** Only these outputs and the nodes they need. */
  partial_execution_targets?: readonly string[];
  extra_data: JsonObject & { extra_pnginfo: JsonObject & { workflow: JsonObject & { id: string; name: string } } };
};

/** `label`: distinguishes this job from the other copies of a run. `rerunOf`: the job that the workflow was opened from. */
export type SubmissionNotes = { label?: string; act?: string; rerunOf?: string };
/** `attempt`: the idempotency key. */
export type SendPrompt = (submission: Submission, attempt: string, notes?: SubmissionNotes) => Promise<Result<unknown, Failure>>;

export type SubmitPorts = {
  sendPrompt: SendPrompt;
  /** The outcome of an attempt whose answer did not come. */
  reportSubmission: (key: string) => Promise<Result<SubmissionReport, Failure>>;
};

export type Submitted = Pick<OpenWorkflow, "graph" | "workflowId" | "name" | "extraData" | "advanced" | "fromJob">;

/**
 * What came with the file (the editor's drawing, say) is sent with the run; lists group jobs by id and name. `written`: the graph
 * before its texts were filled in. `inFile`: the editor's file, which gets the values that are sent.
 */
export function toSubmission(workflow: Submitted, written = workflow.graph, inFile?: InEditorFile): Submission {
  const extra = readExtra(workflow.advanced?.extra ?? "");
  const fromFile = withEditorFile(workflow.extraData, withWritten(workflow.graph, written), inFile);
  const extraData = mergedExtra(fromFile, extra.ok ? extra.value : {});
  const drawing = withWrittenNames(drawingIn(extraData), written, workflow.graph);
  const info = objectOf(extraData.extra_pnginfo) ?? {};
  const targets = workflow.advanced?.targets;
  return {
    prompt: workflow.graph,
    ...(targets && { partial_execution_targets: targets }),
    extra_data: withSpellingsOf(extraData, {
      ...extraData,
      extra_pnginfo: withSpellingsOf(info, {
        ...info,
        workflow: withSpellingsOf(drawing ?? {}, { ...drawing, id: workflow.workflowId, name: workflow.name }),
      }),
    }),
  };
}

/** The texts as they were written, so that they are filled in again when the file is opened. */
function withWritten(sent: Graph, written: Graph): Graph {
  const nodes = Object.entries(sent).map(([id, node]) => {
    const before = own(written, id)?.inputs ?? {};
    const inputs = Object.entries(node.inputs).map(([name, value]) => [
      name,
      typeof value === "string" ? (own(before, name) ?? value) : value,
    ]);
    return [id, { ...node, inputs: Object.fromEntries(inputs) }] as const;
  });
  return Object.fromEntries(nodes);
}

export function judge(result: Result<unknown, Failure>, graph: Graph): RunOutcome {
  if (result.ok) return judgeAnswer(result.value);
  const { failure } = result;
  const errors = hasErrors(failure.nodeErrors) ? failure.nodeErrors : missingClassErrors(graph, failure);
  if (errors) return { kind: "invalid", failure, errors };
  const isUnanswered = failure.status === 0 || failure.code === "CONSOLE_UNREACHABLE" || mayHaveStarted(failure);
  return { kind: isUnanswered ? "unknown" : "refused", failure };
}

function judgeAnswer(value: unknown): RunOutcome {
  const jobId = submittedJob(value);
  if (jobId !== undefined) {
    const secretPlaces = readPlaces(objectOf(value)?.held_secrets);
    const errors = readNodeErrors(objectOf(value)?.node_errors) ?? {};
    return { kind: "accepted", jobId, errors, ...(secretPlaces.length > 0 && { secretPlaces }) };
  }
  return { kind: "unknown", failure: { code: "UPSTREAM_UNREADABLE", message: "The answer names no job.", status: 200 } };
}

function hasErrors(errors: NodeErrors | undefined): errors is NodeErrors {
  return errors !== undefined && Object.keys(errors).length > 0;
}

export async function sendAttempt(
  ports: SubmitPorts,
  attempt: Attempt,
  { submission, graph, rerunOf }: { submission: Submission; graph: Graph; rerunOf?: string },
): Promise<RunOutcome> {
  const outcome = judge(await ports.sendPrompt(submission, attempt.key, { rerunOf }), graph);
  return outcome.kind === "unknown" && outcome.failure.code === "CONSOLE_UNREACHABLE" ? askAfter(ports, attempt) : outcome;
}

export async function askAfter(ports: SubmitPorts, attempt: Attempt): Promise<RunOutcome> {
  const report = await ports.reportSubmission(attempt.key);
  if (report.ok) {
    if (report.value.state === "accepted") return judgeAnswer(report.value.answer);
    if (report.value.state === "unknown") return { kind: "unknown", failure: { status: 0, ...report.value.failure } };
    return { kind: "lost", failure: { code: "NOT_FOUND", message: "", status: 404 } };
  }
  return { kind: report.failure.status === 404 ? "lost" : "unknown", failure: report.failure };
}
