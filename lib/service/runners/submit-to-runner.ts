// Sends a job to its runner once: its files under generated names, then the workflow.

import { openAsBlob } from "node:fs";
import { extname } from "node:path/posix";
import { FormData } from "undici";
import { selectReadable } from "@/lib/comfyui/client";
import { createInvalidResponseFailure, type ExchangeFailure } from "@/lib/comfyui/http";
import { copySpellings, writeExactJson } from "@/lib/contract/json/exact-json";
import { asObject, asText, isObject } from "@/lib/contract/json/json";
import { parseJson } from "@/lib/contract/json/parse-json";
import { type NodeError, type NodeErrors, nodeErrorSchema, nodeErrorsSchema } from "@/lib/contract/schemas/execution";
import { type Graph } from "@/lib/contract/schemas/graph";
import { type OutputFile } from "@/lib/contract/views/outputs-view";
import { failed, ok, type Result } from "@/lib/shared/result";
import { getExtension } from "../assets/media-type";
import { type NodeLibrary } from "../nodes/definition";
import { mapFileTexts } from "../nodes/needs";
import { createServiceError, REJECTED_TYPE, type RunOutcome } from "../nodes/run";
import { storePromptId } from "./attempts";
import {
  createLostOutcome,
  type RemoteInput,
  type RemoteJob,
  removeFromRunner,
  retryUntilDeadline,
  shouldMoveToOtherRunner,
  staleOutcome,
} from "./remote-job";
import { type JobListener } from "./report-events";

const MAX_NODE_ERRORS = 50;
const MAX_TEXT_LENGTH = 300;

/** Returns the job's id on the runner, or the outcome if the attempt has already ended. */
export async function submitToRunner(job: RemoteJob, jobListener: JobListener): Promise<Result<string, RunOutcome>> {
  const { runner, attempt, server } = job;
  if (await job.isOtherRunnerFree()) {
    const queue = await server.getQueue();
    if (queue.ok && (await shouldMoveToOtherRunner(job, selectReadable(queue.value.queue_running, queue.value.queue_pending))))
      return failed(createLostOutcome(`${runner.label} is busy with other clients' jobs.`, false));
  }
  const names = await sendInputs(job);
  if (!names.ok) return names;
  // Otherwise the runner's first messages would be missed.
  await jobListener.ready;
  const result = await server.submit({
    prompt: applyRemoteNames(job.graph, job.library, names.value),
    client_id: attempt.clientId,
    prompt_id: attempt.promptId,
    extra_data: copySpellings(job.extraData, { ...job.extraData, client_id: attempt.clientId }),
    partial_execution_targets: job.outputs,
  });
  if (!result.ok) {
    const { failure } = result;
    if (failure.status === 400) return failed(createRejectedOutcome(job, failure.body ?? ""));
    // The runner may have received the job, so its queue and history are checked.
    return failure.wasSent ? ok(attempt.promptId) : failed(createNotSentOutcome(job, failure));
  }
  const promptId = asText(asObject(result.value)?.prompt_id);
  if (promptId === undefined || promptId.length > MAX_TEXT_LENGTH) return ok(attempt.promptId);
  jobListener.setPromptId(promptId);
  const isCurrentAttempt = await retryUntilDeadline(job, () => job.database.commit((tx) => storePromptId(tx, attempt, promptId)));
  if (!isCurrentAttempt) {
    await removeFromRunner(job, promptId);
    return failed(staleOutcome);
  }
  const { nodeErrors } = parseRejection(job, result.value);
  if (Object.keys(nodeErrors).length > 0)
    job.onEvent({ kind: "note", at: job.now(), note: { code: "outputs_refused", runner: runner.label, nodeErrors } });
  return ok(promptId);
}

async function sendInputs(job: RemoteJob): Promise<Result<Map<string, string>, RunOutcome>> {
  const names = new Map<string, string>();
  for (const input of job.inputs) {
    const result = await sendInput(job, input);
    if (!result.ok)
      return failed(result.failure.status === 413 ? createTooLargeOutcome(job, input) : createNotSentOutcome(job, result.failure));
    names.set(input.name, result.value + getAnnotation(input.name));
  }
  return ok(names);
}

async function sendInput({ server }: RemoteJob, input: RemoteInput): Promise<Result<string, ExchangeFailure>> {
  const file = toRemoteFile(input);
  const existingFile = await server.open(file, { range: "bytes=0-0" });
  if (existingFile.ok) {
    existingFile.value.bytes.destroy();
    if (existingFile.value.size === input.size) return ok(toPath(file));
  }
  const form = new FormData();
  form.append("image", await openAsBlob(input.path), file.filename);
  form.append("type", file.type);
  if (file.subfolder) form.append("subfolder", file.subfolder);
  form.append("overwrite", "true");
  const result = await server.upload(form, input.size);
  if (!result.ok) return result;
  const response = asObject(result.value);
  const filename = asText(response?.name);
  if (filename === undefined) return failed(createInvalidResponseFailure("It doesn't return the name of an uploaded file."));
  return ok(toPath({ filename, subfolder: asText(response?.subfolder) }));
}

/** The job moves to another runner or waits. It counts as an attempt only if the runner was reached. */
function createNotSentOutcome(job: RemoteJob, failure: ExchangeFailure): RunOutcome {
  if (!failure.wasSent || failure.status === undefined) job.reportProblem(failure);
  return createLostOutcome(`${job.runner.label}: ${failure.message}`, failure.wasSent);
}

/** A plain server accepts at most 100 MB, unless it is configured otherwise. */
function createTooLargeOutcome({ runner: { label } }: RemoteJob, { name, size }: RemoteInput): RunOutcome {
  const megabytes = Math.ceil(size / 1024 ** 2);
  const message = `${label} rejects files as large as ${name} (${megabytes} MB). Increase its --max-upload-size.`;
  return { kind: "error", error: createServiceError("InputTooLarge", message) };
}

/** Uses ComfyUI's wire format like a later rejection, because readers parse it. */
function createRejectedOutcome(job: RemoteJob, body: string): RunOutcome {
  const { error, nodeErrors } = parseRejection(job, parseJson(body));
  const isParsed = error !== undefined || Object.keys(nodeErrors).length > 0;
  const details = isParsed ? writeExactJson({ error, node_errors: nodeErrors }) : body.slice(0, MAX_TEXT_LENGTH);
  return { kind: "error", error: createServiceError(REJECTED_TYPE, `${job.runner.label} refused the workflow. 400: ${details}`) };
}

/** The part of a rejection that is stored with the job: errors of some nodes, without their lists of options. */
function parseRejection({ graph, inputs }: RemoteJob, response: unknown): { error: NodeError | undefined; nodeErrors: NodeErrors } {
  const body = replaceRemoteNames(asObject(response), inputs);
  const error = nodeErrorSchema.safeParse(body?.error);
  let remainingErrors = MAX_NODE_ERRORS;
  const nodeEntries = Object.entries(nodeErrorsSchema.catch({}).parse(body?.node_errors ?? {})).flatMap(([id, node]) => {
    const errors = node.errors.slice(0, Math.max(0, remainingErrors)).map(truncateError);
    remainingErrors -= errors.length;
    if ((node.errors.length > 0 && errors.length === 0) || !Object.hasOwn(graph, id)) return [];
    const class_type = node.class_type?.slice(0, MAX_TEXT_LENGTH);
    return [[id, { class_type, dependent_outputs: node.dependent_outputs.slice(0, MAX_NODE_ERRORS), errors }] as const];
  });
  return { error: error.success ? truncateError(error.data) : undefined, nodeErrors: Object.fromEntries(nodeEntries) };
}

function truncateError({ type, message, details, extra_info }: NodeError): NodeError {
  const { input_name, received_value } = extra_info;
  const isShort = writeExactJson(received_value).length <= MAX_TEXT_LENGTH;
  return {
    type: type.slice(0, MAX_TEXT_LENGTH),
    message: message.slice(0, MAX_TEXT_LENGTH),
    details: details.slice(0, MAX_TEXT_LENGTH),
    extra_info: {
      ...(typeof input_name === "string" && { input_name: input_name.slice(0, MAX_TEXT_LENGTH) }),
      ...(isShort && received_value !== undefined && { received_value }),
    },
  };
}

const annotationPattern = / ?\[(input|output|temp)\]$/;
/** ComfyUI's 3D model loaders list only files in this folder. */
const MODEL_FOLDER = "3d";
const modelExtensions = new Set(["glb", "gltf", "obj", "fbx", "stl", "ply", "spz", "splat", "ksplat"]);

const removeAnnotation = (name: string) => name.replace(annotationPattern, "");
const getAnnotation = (name: string) => annotationPattern.exec(name)?.[0] ?? "";
const toPath = ({ filename, subfolder }: { filename: string; subfolder?: string | undefined }) =>
  subfolder ? `${subfolder}/${filename}` : filename;

function toRemoteFile({ hash, mediaType, name }: RemoteInput): OutputFile {
  // Detects models by extension, because a .gltf is JSON and an .obj is plain text.
  const ownExtension = extname(removeAnnotation(name)).slice(1).toLowerCase();
  const isModel = modelExtensions.has(ownExtension);
  const filename = `${hash}.${isModel ? ownExtension : getExtension(mediaType, removeAnnotation(name))}`;
  return { filename, subfolder: isModel ? MODEL_FOLDER : "", type: annotationPattern.exec(name)?.[1] ?? "input" };
}

/** Replaces file names on the runner with the user's names, in all texts of `value`. */
export function replaceRemoteNames<T>(value: T, inputs: readonly RemoteInput[]): T {
  if (inputs.length === 0) return value;
  const namePairs = inputs.map((input) => [toPath(toRemoteFile(input)), removeAnnotation(input.name)] as const);
  const rename = (text: string) => namePairs.reduce((result, [remoteName, name]) => result.replaceAll(remoteName, () => name), text);
  const walk = (item: unknown): unknown =>
    typeof item === "string"
      ? rename(item)
      : Array.isArray(item)
        ? copySpellings(item, item.map(walk))
        : isObject(item)
          ? copySpellings(item, Object.fromEntries(Object.entries(item).map(([key, child]) => [key, walk(child)])))
          : item;
  return walk(value) as T; // the same shape with other texts
}

function applyRemoteNames(graph: Graph, library: NodeLibrary, names: ReadonlyMap<string, string>): Graph {
  if (names.size === 0) return graph;
  return Object.fromEntries(
    Object.entries(graph).map(([id, node]) => {
      const definition = library.get(node.class_type);
      const rename = (text: string) => names.get(text) ?? text;
      return [id, definition ? { ...node, inputs: mapFileTexts(node, definition, rename) } : node];
    }),
  );
}
