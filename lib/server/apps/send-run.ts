// Validates an app run and submits it to the service.

import "server-only";
import { createHash } from "node:crypto";
import { type AppDefinition, type AppInput, type AppRunError, type AppValues } from "@/lib/contract/apps/app";
import { type AppProblem, fillApp, formatProblem, isFileKind, parseValueText } from "@/lib/contract/apps/fill";
import { CONNECTION_PARAMETER } from "@/lib/contract/console";
import { readMatchingDrawing } from "@/lib/contract/editor-workflow/drawing";
import { asArray } from "@/lib/contract/editor-workflow/file";
import { createEditableFile } from "@/lib/contract/editor-workflow/write-file";
import { createFailure, type Failure } from "@/lib/contract/failure";
import { copySpellings, setSpelling, writeExactJson } from "@/lib/contract/json/exact-json";
import { asObject, asText, type JsonObject } from "@/lib/contract/json/json";
import { parseJson } from "@/lib/contract/json/parse-json";
import { type Graph } from "@/lib/contract/schemas/graph";
import { isSecretName } from "@/lib/contract/secrets/mask-secrets";
import { couldHaveStarted, getSubmittedJob, IDEMPOTENCY_HEADER, LABEL_HEADER } from "@/lib/contract/workflow/submission";
import { failed, ok, type Result } from "@/lib/shared/result";
import { type Dependencies } from "../composition-type";
import { type Access } from "../connections/access";
import { type AuthedContext } from "../context";
import { submitOnce } from "../prompts/submit-once";
import { readNodeInfos } from "../responses/node-classes";
import { type StoredRun } from "../store/apps/app-runs";
import { type StoredApp } from "../store/apps/apps";
import { checkFileLimits, checkReferencedImages, type ReceivedFile, type ReceivedForm, uploadFile } from "./files";
import { checkFileAccess } from "./input-images";
import { getSubmissionKey, toAppFailure, toGraphError } from "./run-state";

type RunInput = { values: Record<string, unknown>; files: readonly ReceivedFile[] };
export type RunRequest = RunInput & { context: AuthedContext; access: Access; app: StoredApp; key: string | undefined };

export function readFormInput({ definition }: StoredApp, { fields, files }: ReceivedForm): RunInput {
  const inputsByName = new Map(definition.inputs.map((input) => [input.name, input]));
  const fieldValues = [...fields].map(([name, text]): [string, unknown] => {
    const input = inputsByName.get(name);
    return [name, input ? parseValueText(input, text) : text];
  });
  // A file's hash represents it until the service has named the file.
  const fileHashes = files.map(({ fieldName, hash }): [string, string] => [fieldName, hash]);
  const values = Object.fromEntries([...fieldValues, ...fileHashes]);
  for (const [name, text] of fields) if (typeof values[name] === "number") setSpelling(values, name, text.trim());
  return { values, files };
}

export function hashValues(values: RunRequest["values"]): string {
  const sortedEntries = Object.entries(values).sort(([name], [otherName]) => (name < otherName ? -1 : 1));
  return createHash("sha256").update(writeExactJson(sortedEntries)).digest("hex");
}

export function removeFiles(values: AppValues, files: readonly ReceivedFile[]): AppValues {
  const fieldNames = new Set(files.map(({ fieldName }) => fieldName));
  return Object.fromEntries(Object.entries(values).filter(([name]) => !fieldNames.has(name)));
}

export function removeSecrets({ definition: { inputs } }: StoredApp, values: AppValues): AppValues {
  const isStorable = (name: string) => inputs.some((input: AppInput) => input.name === name && !isSecretName(input.input));
  return Object.fromEntries(Object.entries(values).filter(([name]) => isStorable(name)));
}

export async function checkRun({ context, access, app, values, files }: RunRequest): Promise<Result<AppValues, Failure>> {
  const filledApp = fillApp(app.definition, values);
  if (!filledApp.ok) return failed(createUnprocessableFailure(filledApp.problems));
  const valuesWithoutFiles = removeFiles(filledApp.values, files);
  const problems = [
    ...files.flatMap((file) => checkFilePart(app, file) ?? []),
    ...(await checkFileAccess(context, app, valuesWithoutFiles)),
  ];
  // Checked last, because a picture may have to be fetched from the service, and only if the member may use it.
  if (problems.length === 0) problems.push(...(await checkReferencedImages(access, context.viewer, app, valuesWithoutFiles)));
  return problems.length === 0 ? ok(filledApp.values) : failed(createUnprocessableFailure(problems));
}

function checkFilePart(app: StoredApp, file: ReceivedFile): AppProblem | undefined {
  const input = app.definition.inputs.find(({ name }) => name === file.fieldName);
  if (input && isFileKind(input.control.kind)) return checkFileLimits(app, input, file);
  return { input: file.fieldName, label: input?.label ?? file.fieldName, code: "wrong_type" };
}

function createUnprocessableFailure(problems: readonly AppProblem[]): Failure {
  return createFailure("UNPROCESSABLE", problems.slice(0, 5).map(formatProblem).join(". "), { problems });
}

/** Undefined if the drawing belongs to another graph or can't represent the values. */
async function fillDrawing(access: Access, editor: JsonObject, graph: Graph): Promise<JsonObject | undefined> {
  if (!readMatchingDrawing(editor, graph)) return undefined;
  const nodeInfos = await readNodeInfos(access, listClasses(editor, graph));
  return nodeInfos && createEditableFile(editor, nodeInfos).applyValues(graph).file;
}

function listClasses(editor: JsonObject, graph: Graph): string[] {
  const groups = Object.values(asObject(asObject(editor.extra)?.groupNodes) ?? {});
  const nodeContainers = [editor, ...asArray(asObject(editor.definitions)?.subgraphs), ...groups];
  const types = nodeContainers
    .flatMap((container) => asArray(asObject(container)?.nodes))
    .flatMap((node) => asText(asObject(node)?.type) ?? []);
  return [...new Set([...Object.values(graph).map(({ class_type }) => class_type), ...types])];
}

export type StartedRun = Pick<StoredRun, "id" | "createdAt">;

/** `checkedValues` contains the hash of a file in place of its name. */
export async function sendRun(runRequest: RunRequest, run: StartedRun, checkedValues: AppValues): Promise<Result<StoredRun, Failure>> {
  const { context, access, app, files } = runRequest;
  const { store, now } = access.composition;
  const valuesWithNames = await uploadFiles(runRequest, checkedValues);
  if (!valuesWithNames.ok) return refuseRun(access.composition, run, valuesWithNames.failure);
  const values = valuesWithNames.value;
  if (files.length > 0) await store.appRuns.set(run.id, { inputs: removeSecrets(app, values) });
  await store.appFiles.extendRetention(context.viewer.memberId, getFileNames(app.definition, values), now());
  const filledApp = fillApp(app.definition, values);
  if (!filledApp.ok) return refuseRun(access.composition, run, createUnprocessableFailure(filledApp.problems));
  const result = await submit(runRequest, run.id, await buildPromptBody(access, app.definition, filledApp.graph));
  return result.ok ? storeResponse(runRequest, run, result.value) : storeFailure(runRequest, run, result.failure);
}

async function uploadFiles({ context, app, files }: RunRequest, checkedValues: AppValues): Promise<Result<AppValues, Failure>> {
  const remoteNames: [string, string][] = [];
  for (const file of files) {
    const name = await uploadFile(context, app, file);
    if (!name.ok) return name;
    remoteNames.push([file.fieldName, name.value]);
  }
  return ok(copySpellings(checkedValues, { ...checkedValues, ...Object.fromEntries(remoteNames) }));
}

function getFileNames({ inputs }: AppDefinition, values: AppValues): string[] {
  const fileValues = inputs.filter(({ control }) => isFileKind(control.kind)).map(({ name }) => values[name]);
  return fileValues.filter((value) => typeof value === "string");
}

async function buildPromptBody(access: Access, { editor }: AppDefinition, graph: Graph): Promise<string> {
  const drawing = editor && (await fillDrawing(access, editor, graph));
  return writeExactJson({ prompt: graph, ...(drawing && { extra_data: { extra_pnginfo: { workflow: drawing } } }) });
}

/** Submits through the console's own endpoint, which handles secrets, the job index, the audit log and idempotency. */
async function submit({ context, app }: RunRequest, runId: string, body: string): Promise<Result<string, Failure>> {
  const { request } = context;
  const url = new URL(request.url);
  url.search = `?${new URLSearchParams({ [CONNECTION_PARAMETER]: app.connectionId }).toString()}`;
  const headers = new Headers({
    "content-type": "application/json",
    [IDEMPOTENCY_HEADER]: getSubmissionKey(runId),
    [LABEL_HEADER]: encodeURIComponent(app.definition.title),
  });
  const host = request.headers.get("host");
  if (host !== null) headers.set("host", host);
  // Logged as a submission, because the log identifies who ran a job.
  context.annotateAudit({ action: "submitPrompt" });
  const result = await submitOnce({ ...context, request: new Request(url, { method: "POST", headers, body }) });
  return result.ok ? ok(await result.value.text()) : result;
}

async function storeResponse(runRequest: RunRequest, { id }: StartedRun, text: string): Promise<Result<StoredRun, Failure>> {
  const jobId = getSubmittedJob(parseJson(text));
  await runRequest.access.composition.store.appRuns.set(
    id,
    jobId === undefined ? { state: "unknown", error: unreadableError } : { state: "pending", jobId },
  );
  return reloadRun(runRequest, id);
}

const unreadableError = { message: "The service's response contains no job id.", code: "answer_unreadable" } as const;

async function storeFailure(runRequest: RunRequest, run: StartedRun, failure: Failure): Promise<Result<StoredRun, Failure>> {
  const { viewer } = runRequest.context;
  const { definition } = runRequest.app;
  const { appRuns, submissions } = runRequest.access.composition.store;
  // The key was used with another body: another request has sent the same run in the meantime, with another seed.
  const key = getSubmissionKey(run.id);
  if (failure.code === "CONFLICT" && (await submissions.find({ memberId: viewer.memberId, key }))) {
    const concurrentRun = await appRuns.find(runRequest.app.id, viewer.memberId, run.id);
    if (concurrentRun) return ok(concurrentRun);
  }
  if (!couldHaveStarted(failure))
    return refuseRun(runRequest.access.composition, run, toAppFailure(viewer, definition, failure), toGraphError(definition, failure));
  await appRuns.set(run.id, { state: "unknown", error: { message: failure.message } });
  return reloadRun(runRequest, run.id);
}

async function reloadRun({ context, app }: RunRequest, id: string): Promise<Result<StoredRun, Failure>> {
  const run = await context.composition.store.appRuns.find(app.id, context.viewer.memberId, id);
  return run ? ok(run) : failed(createFailure("INTERNAL", "The run was deleted while it was being sent."));
}

/** Marks the run as refused, unless another request has restarted it in the meantime. */
async function refuseRun(
  { store, now }: Dependencies<"store" | "now">,
  { id, createdAt }: StartedRun,
  failure: Failure,
  error: AppRunError = { message: failure.message },
): Promise<Result<StoredRun, Failure>> {
  await store.appRuns.set(id, { state: "refused", error, endedAt: now() }, { state: "sending", createdAt, jobId: undefined });
  return failed(failure);
}
