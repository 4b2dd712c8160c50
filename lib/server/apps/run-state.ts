// Refreshes app runs from their jobs, and maps errors and results to the app's inputs and outputs.

import "server-only";
import {
  type AppDefinition,
  type AppInput,
  type AppInputProblem,
  type AppResult,
  type AppRun,
  type AppRunError,
} from "@/lib/contract/apps/app";
import { type AppProblem, createProblem, formatProblem, isFileKind } from "@/lib/contract/apps/fill";
import { createFailure, type Failure } from "@/lib/contract/failure";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { asObject, asText, getOwn } from "@/lib/contract/json/json";
import { parseJson } from "@/lib/contract/json/parse-json";
import { readInputSpec } from "@/lib/contract/nodes/input-spec";
import { operations } from "@/lib/contract/operations";
import { type NodeError } from "@/lib/contract/schemas/execution";
import { formatErrorLine, type JobErrorView, type JobProgressView, toJobView } from "@/lib/contract/views/job-view";
import { listOutputs } from "@/lib/contract/views/outputs-view";
import { getSubmittedJob } from "@/lib/contract/workflow/submission";
import { ok, type Result } from "@/lib/shared/result";
import { type Viewer } from "../auth/viewer";
import { type Composition, type Dependencies } from "../composition-type";
import { type Access } from "../connections/access";
import { SUBMISSION_RETENTION_MS } from "../prompts/submit-once";
import { getLiveOutputs } from "../responses/live-progress";
import { requestRedacted } from "../responses/process-response";
import { activeRunStates, type StoredResult, type StoredRun } from "../store/apps/app-runs";
import { type StoredApp } from "../store/apps/apps";
import { canSeeWorkflows } from "./open-app";

type Definition = Pick<StoredApp["definition"], "inputs">;

const problemCodes: Readonly<Record<string, AppProblem["code"]>> = {
  required_input_missing: "missing",
  invalid_input_type: "wrong_type",
  value_smaller_than_min: "too_small",
  value_bigger_than_max: "too_large",
  value_not_in_list: "not_a_choice",
};

/** Failures unrelated to the graph, such as an outage or a quota, are returned unchanged. */
export function toAppFailure(viewer: Viewer, definition: Definition, failure: Failure): Failure {
  const graphError = toGraphError(definition, failure);
  if (!graphError) return failure;
  const { message, problems, node } = graphError;
  if (problems) return createFailure("UNPROCESSABLE", message, { problems });
  return createFailure("UNPROCESSABLE", message, { reason: "workflow", ...(node !== undefined && canSeeWorkflows(viewer) && { node }) });
}

/** Includes the node, so show it only to members who may see workflows. Undefined if the failure is unrelated to the graph. */
export function toGraphError(definition: Definition, { nodeErrors, promptError, status }: Failure): AppRunError | undefined {
  if (!nodeErrors && !promptError && status !== 400 && status !== 422) return undefined;
  const problems = toInputProblems(definition, nodeErrors);
  const failedNode = Object.keys(nodeErrors ?? {})[0] ?? asText(asObject(promptError?.extra_info)?.node_id);
  const node = failedNode === undefined ? {} : { node: failedNode };
  if (problems.length > 0) return { message: problems.slice(0, 5).map(toProblemMessage).join(". "), code: "inputs", problems, ...node };
  const message = "The service rejected this app's workflow. The app's author can open it in Run to see the reason.";
  return { message, code: "workflow", ...node };
}

function toInputProblems({ inputs }: Definition, nodeErrors: Failure["nodeErrors"]): AppInputProblem[] {
  const problemsByInput = new Map<string, AppInputProblem>();
  for (const [node, { errors }] of Object.entries(nodeErrors ?? {}))
    for (const error of errors) {
      const name = asText(asObject(error.extra_info)?.input_name);
      const input = inputs.find((input) =>
        [input, ...(input.also ?? [])].some((inputRef) => inputRef.node === node && inputRef.input === name),
      );
      if (input && !problemsByInput.has(input.name)) problemsByInput.set(input.name, toInputProblem(input, error));
    }
  return [...problemsByInput.values()];
}

function toInputProblem(input: AppInput, { type, message, extra_info: extraInfo }: NodeError): AppInputProblem {
  const code = getOwn(problemCodes, type);
  // The file existed when the run was sent, but the service no longer has it.
  if (isFileKind(input.control.kind) && type !== "required_input_missing") return createProblem(input, "not_yours");
  const spec = readInputSpec(input.input, asObject(extraInfo)?.input_config);
  const limit = spec.kind !== "number" ? undefined : code === "too_small" ? spec.min : code === "too_large" ? spec.max : undefined;
  const isRangeError = code === "too_small" || code === "too_large";
  if (code && isRangeError === (limit !== undefined)) return createProblem(input, code, limit);
  // The service's message is about the node, not the input.
  return type === "custom_validation_failed" || message === "" ? createProblem(input, "not_taken") : { ...getInputNames(input), message };
}

function getInputNames({ name, label }: AppInput): { input: string; label: string } {
  return { input: name, label };
}

function toProblemMessage(problem: AppInputProblem): string {
  return "code" in problem ? formatProblem(problem) : `${problem.label}: ${problem.message}`;
}

const MAX_RESULTS = 200;
const MAX_TEXT_LENGTH = 20_000;
const MAX_NODE_ID_LENGTH = 500;

export function getSubmissionKey(runId: string): string {
  return `app-${runId}`;
}

export function getSendTaskName(runId: string): string {
  return `run ${runId}`;
}

type RefreshedRun = StoredRun & { progress?: JobProgressView };

/** `isDequeued`: the job was just removed from the queue. Some services don't report such jobs. */
export async function refreshRun(
  access: Access,
  app: StoredApp,
  run: StoredRun,
  { isDequeued = false } = {},
): Promise<Result<RefreshedRun, Failure>> {
  const settledRun =
    run.jobId === undefined && (run.state === "sending" || run.state === "unsent") ? await settleSubmission(access.composition, run) : run;
  if (settledRun.jobId === undefined || !activeRunStates.some((state) => state === settledRun.state)) return ok(settledRun);
  const jobResult = await requestRedacted(operations.getJob, access, { params: { job_id: settledRun.jobId }, waiter: "poll" });
  if (!jobResult.ok) {
    if (jobResult.failure.code !== "NOT_FOUND") return jobResult;
    if (isDequeued) return ok(await updateRun(access.composition, settledRun, { state: "cancelled", endedAt: access.composition.now() }));
    return ok(
      await updateRun(access.composition, settledRun, {
        state: "unknown",
        error: { message: "The service no longer has this job.", code: "job_gone" },
      }),
    );
  }
  const job = jobResult.value.value;
  const view = toJobView(job);
  const state = view.state === "unknown" ? settledRun.state : view.state;
  if (!view.terminal) {
    const { results, progress = view.progress } = await readLiveOutputs(access, app, settledRun, view.progress);
    const updatedRun =
      state === settledRun.state && !results
        ? settledRun
        : await updateRun(access.composition, settledRun, { state, ...(results && { results }) });
    return ok({ ...updatedRun, ...(progress && { progress }) });
  }
  const definition = await findDefinition(access.composition, app, run);
  const error = view.error && toRunError(definition, view.error);
  const results = numberResults(collectResults(definition.outputs, job.outputs), settledRun.results);
  return ok(
    await updateRun(access.composition, settledRun, {
      state,
      results,
      endedAt: view.endedAtMs ?? access.composition.now(),
      ...(error && { error }),
    }),
  );
}

async function findDefinition({ store }: Dependencies<"store">, app: StoredApp, { version }: StoredRun): Promise<AppDefinition> {
  return (await store.apps.findDefinition(app.id, version)) ?? app.definition;
}

type LiveRun = { results?: StoredResult[]; progress?: JobProgressView };

/** `results`: all results, if new ones arrived since the last read. `progress`: set if the job itself reports none. */
async function readLiveOutputs(access: Access, app: StoredApp, run: StoredRun, progress: JobProgressView | undefined): Promise<LiveRun> {
  if (run.jobId === undefined) return {};
  const { outputs, progress: reportedProgress } = getLiveOutputs(access, run.jobId);
  if (Object.keys(outputs).length === 0 && (progress || !reportedProgress)) return {};
  const { graph, outputs: chosenOutputs } = await findDefinition(access.composition, app, run);
  const { results = [] } = run;
  const numbers = new Set(results.map(({ number }) => number));
  const newResults = numberResults(collectResults(chosenOutputs, outputs), results).filter(({ number }) => !numbers.has(number));
  return {
    ...(newResults.length > 0 && { results: [...results, ...newResults].slice(0, MAX_RESULTS) }),
    ...(!progress && reportedProgress && { progress: toProgressView(reportedProgress, Object.keys(graph).length) }),
  };
}

function toProgressView({ done, runningProgress }: { done: number; runningProgress: number }, nodesTotal: number): JobProgressView {
  const nodesDone = Math.min(done, nodesTotal);
  return { value: Math.min(1, (nodesDone + runningProgress) / Math.max(1, nodesTotal)), nodesDone, nodesTotal };
}

/** Existing results keep their number. New ones get the next number. */
function numberResults(results: readonly StoredResult[], previousResults: readonly StoredResult[] = []): StoredResult[] {
  const unmatchedResults = previousResults.map(({ number, ...result }) => ({ number, text: writeExactJson(result) }));
  let lastNumber = Math.max(0, ...unmatchedResults.map(({ number = 0 }) => number));
  return results.map((result) => {
    const matchIndex = unmatchedResults.findIndex(({ text }) => text === writeExactJson(result));
    const [match] = matchIndex < 0 ? [] : unmatchedResults.splice(matchIndex, 1);
    return { ...result, number: match?.number ?? (lastNumber += 1) };
  });
}

/** If a graph is rejected after it was accepted, the error refers to inputs, as it does for an immediate rejection. */
function toRunError(definition: AppDefinition, { lateValidation, ...error }: JobErrorView): AppRunError {
  const graphError = lateValidation && toGraphError(definition, lateValidation);
  if (graphError) return graphError;
  const { nodeId } = error;
  const message = formatErrorLine({ ...error, nodeType: undefined, ...(lateValidation && { lateValidation }) });
  return { message, ...(nodeId !== undefined && { node: nodeId.slice(0, MAX_NODE_ID_LENGTH) }) };
}

/** For a run without a job: looks up its stored submission. */
async function settleSubmission(composition: Composition, run: StoredRun): Promise<StoredRun> {
  const { store, now } = composition;
  const key = getSubmissionKey(run.id);
  // Checked before the read below, so that the read includes everything the sender wrote before it finished.
  if (await store.peers.isInProgress(getSendTaskName(run.id))) return run;
  const submission = await store.submissions.find({ memberId: run.memberId, key });
  const jobId = submission?.answer === undefined ? undefined : getSubmittedJob(parseJson(submission.answer));
  if (jobId !== undefined) return updateRun(composition, run, { jobId, state: "pending" });
  if (submission?.failure) return updateRun(composition, run, { state: "unknown", error: { message: submission.failure.message } });
  if (submission)
    return updateRun(composition, run, {
      state: "unknown",
      error: { message: "The console stopped while waiting for the service's response.", code: "answer_lost" },
    });
  if (now() - run.createdAt >= SUBMISSION_RETENTION_MS)
    return updateRun(composition, run, {
      state: "unknown",
      error: { message: "The console stopped while sending this run. The service may or may not have received it.", code: "sending_lost" },
    });
  return updateRun(composition, run, {
    state: "unsent",
    error: { message: "The console stopped before sending this run. Run it again.", code: "not_sent" },
  });
}

/** Stores the changes, unless another process has changed the run in the meantime. Then the newer state wins. */
async function updateRun(
  { store }: Dependencies<"store">,
  run: StoredRun,
  changes: Parameters<Composition["store"]["appRuns"]["set"]>[1],
): Promise<StoredRun> {
  const { appRuns } = store;
  if (await appRuns.set(run.id, changes, run)) return { ...run, ...changes };
  return (await appRuns.find(run.appId, run.memberId, run.id)) ?? run;
}

/** Collects the results of the chosen outputs in order, or of all outputs if none is chosen. */
function collectResults(outputs: AppDefinition["outputs"], jobOutputs: Parameters<typeof listOutputs>[0]): StoredResult[] {
  const fileOutputs = listOutputs(jobOutputs).filter(({ kind }) => kind !== "json");
  const selectedOutputs =
    outputs.length === 0
      ? fileOutputs.map((view) => ({ view, label: "" }))
      : outputs.flatMap(({ node, label }) => fileOutputs.filter(({ nodeId }) => nodeId === node).map((view) => ({ view, label })));
  return selectedOutputs.slice(0, MAX_RESULTS).map(({ view: { kind, name, file, text }, label }) => ({
    label,
    kind,
    name,
    ...(file && { file }),
    ...(text !== undefined && { text: text.slice(0, MAX_TEXT_LENGTH) }),
  }));
}

export function toRunView(viewer: Viewer, run: RefreshedRun): AppRun {
  const { id, appId, version, state, createdAt, endedAt, inputs, error, jobId, progress } = run;
  return {
    id,
    appId,
    version,
    state,
    createdAt,
    inputs,
    results: (run.results ?? []).map((result, index) => toResult(run, result, getResultNumber(result, index))),
    ...(endedAt !== undefined && { endedAt }),
    ...(progress?.value !== undefined && { progress: progress.value }),
    ...(progress?.nodesTotal !== undefined && { step: toStep(progress.nodesTotal, progress.nodesDone) }),
    ...(error && { error: canSeeWorkflows(viewer) ? error : removeNode(error) }),
    ...(jobId !== undefined && canSeeWorkflows(viewer) && { jobId }),
  };
}

function toStep(total: number, done = 0): NonNullable<AppRun["step"]> {
  return { at: Math.min(done + 1, total), of: total };
}

/** Runs stored before results were numbered use the position. */
export function getResultNumber({ number }: StoredResult, index: number): number {
  return number ?? index + 1;
}

function removeNode({ node: _node, ...error }: AppRunError): AppRunError {
  return error;
}

function toResult({ appId, id }: StoredRun, { label, kind, name, file, text }: StoredResult, number: number): AppResult {
  return {
    number,
    label,
    // Stored results are never "json": `collectResults` leaves them out.
    kind: kind === "json" ? "text" : kind,
    name,
    ...(file && { path: `/api/apps/${appId}/runs/${id}/outputs/${number}` }),
    ...(text !== undefined && { text }),
  };
}
