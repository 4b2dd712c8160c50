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
import { readNodeInfos } from "../answers/node-classes";
import { type Dependencies } from "../composition-type";
import { type Access } from "../connections/access";
import { type AuthedContext } from "../context";
import { submitOnce } from "../prompts/submit-once";
import { type StoredRun } from "../store/apps/app-runs";
import { type StoredApp } from "../store/apps/apps";
import { checkFileLimits, checkNamedPictures, type ReceivedFile, type ReceivedForm, uploadFile } from "./files";
import { checkFileAccess } from "./pictures";
import { submissionKey, toAppFailure, toGraphError } from "./run-state";

type RunInput = { values: Record<string, unknown>; files: readonly ReceivedFile[] };
export type RunOrder = RunInput & { context: AuthedContext; access: Access; app: StoredApp; key: string | undefined };

export function readFormInput({ definition }: StoredApp, { fields, files }: ReceivedForm): RunInput {
  const inputsByName = new Map(definition.inputs.map((input) => [input.name, input]));
  const texts = [...fields].map(([name, text]): [string, unknown] => {
    const input = inputsByName.get(name);
    return [name, input ? parseValueText(input, text) : text];
  });
  // A file's hash represents it until the service has named the file.
  const hashes = files.map(({ part, hash }): [string, string] => [part, hash]);
  const values = Object.fromEntries([...texts, ...hashes]);
  for (const [name, text] of fields) if (typeof values[name] === "number") setSpelling(values, name, text.trim());
  return { values, files };
}

export function hashValues(values: RunOrder["values"]): string {
  const sorted = Object.entries(values).sort(([one], [other]) => (one < other ? -1 : 1));
  return createHash("sha256").update(writeExactJson(sorted)).digest("hex");
}

export function removeFiles(values: AppValues, files: readonly ReceivedFile[]): AppValues {
  const parts = new Set(files.map(({ part }) => part));
  return Object.fromEntries(Object.entries(values).filter(([name]) => !parts.has(name)));
}

export function withoutSecrets({ definition: { inputs } }: StoredApp, values: AppValues): AppValues {
  const isStorable = (name: string) => inputs.some((input: AppInput) => input.name === name && !isSecretName(input.input));
  return Object.fromEntries(Object.entries(values).filter(([name]) => isStorable(name)));
}

export async function checkRun({ context, access, app, values, files }: RunOrder): Promise<Result<AppValues, Failure>> {
  const filled = fillApp(app.definition, values);
  if (!filled.ok) return failed(unprocessable(filled.problems));
  const valuesWithoutFiles = removeFiles(filled.values, files);
  const problems = [
    ...files.flatMap((file) => checkFilePart(app, file) ?? []),
    ...(await checkFileAccess(context, app, valuesWithoutFiles)),
  ];
  // Checked last, because a picture may have to be fetched from the service, and only if the member may use it.
  if (problems.length === 0) problems.push(...(await checkNamedPictures(access, context.viewer, app, valuesWithoutFiles)));
  return problems.length === 0 ? ok(filled.values) : failed(unprocessable(problems));
}

function checkFilePart(app: StoredApp, file: ReceivedFile): AppProblem | undefined {
  const input = app.definition.inputs.find(({ name }) => name === file.part);
  if (input && isFileKind(input.control.kind)) return checkFileLimits(app, input, file);
  return { input: file.part, label: input?.label ?? file.part, code: "wrong_type" };
}

function unprocessable(problems: readonly AppProblem[]): Failure {
  return createFailure("UNPROCESSABLE", problems.slice(0, 5).map(formatProblem).join(". "), { problems });
}

/** Undefined if the drawing belongs to another graph or cannot take the values. */
async function fillDrawing(access: Access, editor: JsonObject, graph: Graph): Promise<JsonObject | undefined> {
  if (!readMatchingDrawing(editor, graph)) return undefined;
  const info = await readNodeInfos(access, listClasses(editor, graph));
  return info && createEditableFile(editor, info).withValues(graph).file;
}

function listClasses(editor: JsonObject, graph: Graph): string[] {
  const groups = Object.values(asObject(asObject(editor.extra)?.groupNodes) ?? {});
  const networks = [editor, ...asArray(asObject(editor.definitions)?.subgraphs), ...groups];
  const types = networks.flatMap((net) => asArray(asObject(net)?.nodes)).flatMap((node) => asText(asObject(node)?.type) ?? []);
  return [...new Set([...Object.values(graph).map(({ class_type }) => class_type), ...types])];
}

export type StartedRun = Pick<StoredRun, "id" | "createdAt">;

/** `checkedValues` contains the hash of a file in place of its name. */
export async function sendRun(order: RunOrder, run: StartedRun, checkedValues: AppValues): Promise<Result<StoredRun, Failure>> {
  const { context, access, app, files } = order;
  const { store, now } = order.access.composition;
  const valuesWithNames = await uploadFiles(order, checkedValues);
  if (!valuesWithNames.ok) return refuseRun(order.access.composition, run, valuesWithNames.failure);
  const values = valuesWithNames.value;
  if (files.length > 0) await store.appRuns.set(run.id, { inputs: withoutSecrets(app, values) });
  await store.appFiles.giveAgain(context.viewer.memberId, getFileNames(app.definition, values), now());
  const filled = fillApp(app.definition, values);
  if (!filled.ok) return refuseRun(order.access.composition, run, unprocessable(filled.problems));
  const result = await submit(order, run.id, await buildPromptBody(access, app.definition, filled.graph));
  return result.ok ? storeResponse(order, run, result.value) : storeFailure(order, run, result.failure);
}

async function uploadFiles({ context, app, files }: RunOrder, checkedValues: AppValues): Promise<Result<AppValues, Failure>> {
  const remoteNames: [string, string][] = [];
  for (const file of files) {
    const name = await uploadFile(context, app, file);
    if (!name.ok) return name;
    remoteNames.push([file.part, name.value]);
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
async function submit({ context, app }: RunOrder, runId: string, body: string): Promise<Result<string, Failure>> {
  const { request } = context;
  const address = new URL(request.url);
  address.search = `?${new URLSearchParams({ [CONNECTION_PARAMETER]: app.connectionId }).toString()}`;
  const headers = new Headers({
    "content-type": "application/json",
    [IDEMPOTENCY_HEADER]: submissionKey(runId),
    [LABEL_HEADER]: encodeURIComponent(app.definition.title),
  });
  const host = request.headers.get("host");
  if (host !== null) headers.set("host", host);
  // Logged as a submission, because the log identifies who ran a job.
  context.annotateAudit({ action: "submitPrompt" });
  const result = await submitOnce({ ...context, request: new Request(address, { method: "POST", headers, body }) });
  return result.ok ? ok(await result.value.text()) : result;
}

async function storeResponse(order: RunOrder, { id }: StartedRun, text: string): Promise<Result<StoredRun, Failure>> {
  const jobId = getSubmittedJob(parseJson(text));
  await order.access.composition.store.appRuns.set(
    id,
    jobId === undefined ? { state: "unknown", error: unreadableError } : { state: "pending", jobId },
  );
  return reloadRun(order, id);
}

const unreadableError = { message: "The service's answer names no job.", code: "answer_unreadable" } as const;

async function storeFailure(order: RunOrder, run: StartedRun, failure: Failure): Promise<Result<StoredRun, Failure>> {
  const { viewer } = order.context;
  const { definition } = order.app;
  const { appRuns, submissions } = order.access.composition.store;
  // The key was used with another body: another request has sent the same run meanwhile, with another seed.
  const key = submissionKey(run.id);
  if (failure.code === "CONFLICT" && (await submissions.find({ memberId: viewer.memberId, key }))) {
    const other = await appRuns.find(order.app.id, viewer.memberId, run.id);
    if (other) return ok(other);
  }
  if (!couldHaveStarted(failure))
    return refuseRun(order.access.composition, run, toAppFailure(viewer, definition, failure), toGraphError(definition, failure));
  await appRuns.set(run.id, { state: "unknown", error: { message: failure.message } });
  return reloadRun(order, run.id);
}

async function reloadRun({ context, app }: RunOrder, id: string): Promise<Result<StoredRun, Failure>> {
  const run = await context.composition.store.appRuns.find(app.id, context.viewer.memberId, id);
  return run ? ok(run) : failed(createFailure("INTERNAL", "The run was removed while it was sent."));
}

/** Marks the run as refused, unless another request has restarted it meanwhile. */
async function refuseRun(
  { store, now }: Dependencies<"store" | "now">,
  { id, createdAt }: StartedRun,
  failure: Failure,
  error: AppRunError = { message: failure.message },
): Promise<Result<StoredRun, Failure>> {
  await store.appRuns.set(id, { state: "refused", error, endedAt: now() }, { state: "sending", createdAt, jobId: undefined });
  return failed(failure);
}
