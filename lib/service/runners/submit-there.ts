// Sends a job to its runner: the files it reads, then the workflow, once.
// Guarantees: whether a request that failed may have arrived is never guessed.

import { isObject, objectOf, parseJson, textOf } from "@/lib/contract/json/json";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { errorAround } from "../nodes/error-around";
import { type RunOutcome } from "../nodes/run";
import { failed, ok, type Result } from "@/lib/shared/result";
import { type Listening } from "./events-of";
import { withNames } from "./names-there";
import { lost, type RemoteJob, stale, write } from "./remote-job";
import { askJson, type ExchangeFailure } from "./speak";
import { bring, type Input } from "./transfer";
import { clearAway } from "./whereabouts";

/** The job's id at the runner, or how the attempt has already ended. */
export async function submitThere(job: RemoteJob, listening: Listening): Promise<Result<string, RunOutcome>> {
  const { runner, attempt, signal } = job;
  const names = await sendInputs(job);
  if (!names.ok) return names;
  // What the runner reports before that would be missed.
  await listening.ready;
  const body = {
    prompt: withNames(job.graph, job.library, names.value),
    client_id: attempt.clientId,
    prompt_id: attempt.promptId,
    extra_data: { ...job.extraData, client_id: attempt.clientId },
    partial_execution_targets: job.outputs,
  };
  const answer = await askJson(runner.address, "/prompt", { method: "POST", body, signal });
  if (!answer.ok) {
    const { failure } = answer;
    if (failure.status === 400) return failed(refused(job, failure.body ?? ""));
    // If it may have arrived, the runner's queue and history are asked.
    return failure.wasSent ? ok(attempt.promptId) : failed(notSent(job, failure));
  }
  const reply = objectOf(answer.value);
  const promptId = textOf(reply?.prompt_id);
  if (promptId === undefined) return ok(attempt.promptId);
  listening.isCalled(promptId);
  const isOwn = await write(job, { state: "sent", prompt_id: promptId });
  const isRefused = isObject(reply?.node_errors) && Object.keys(reply.node_errors).length > 0;
  if (isOwn && !isRefused) return ok(promptId);
  await clearAway(runner.address, { promptId, clientId: attempt.clientId });
  return failed(isOwn ? refused(job, writeExactJson(reply)) : stale);
}

/** Their names at the runner, by the names in the graph. */
async function sendInputs(job: RemoteJob): Promise<Result<Map<string, string>, RunOutcome>> {
  const names = new Map<string, string>();
  for (const input of job.inputs) {
    const sent = await bring(job.runner.address, input, job.signal);
    if (!sent.ok) return failed(sent.failure.status === 413 ? tooLarge(job, input) : notSent(job, sent.failure));
    names.set(input.name, sent.value);
  }
  return ok(names);
}

/** The job cannot run at this runner: it goes elsewhere, or waits. If the runner was not reached, no attempt of the job is used up. */
function notSent(job: RemoteJob, failure: ExchangeFailure): RunOutcome {
  if (!failure.wasSent || failure.status === undefined) job.reportProblem(failure);
  return lost(`${job.runner.label}: ${failure.message}`, failure.wasSent);
}

/** A plain server accepts at most 100 MB, unless it is configured otherwise. */
function tooLarge({ runner: { label } }: RemoteJob, { name, size }: Input): RunOutcome {
  const megabytes = Math.ceil(size / 1024 ** 2);
  const message = `${label} takes no file as large as ${name} (${megabytes} MB). Its --max-upload-size can be raised.`;
  return { kind: "error", error: errorAround("InputTooLarge", message) };
}

/** Worded like a refusal that comes late, in the family's wire format: readers take from it what is wrong. */
function refused({ runner: { label }, graph }: RemoteJob, answer: string): RunOutcome {
  const read = objectOf(parseJson(answer));
  const errors = Object.entries(objectOf(read?.node_errors) ?? {}).filter(([id]) => Object.hasOwn(graph, id));
  const body = read ? writeExactJson({ ...read, ...("node_errors" in read && { node_errors: Object.fromEntries(errors) }) }) : answer;
  return { kind: "error", error: errorAround("ValidationError", `${label} refused the workflow. 400: ${body}`) };
}
