// A run of an app: reads and checks its inputs, counts its limits, and submits the filled graph the way the console submits everything.
// Guarantees: the run is stored before anything is sent, and reaches the service once, however often its key is sent and whenever the
// console ends; a refused run starts nothing, counts for nothing and names inputs by their labels. It stays under its id, which others that
// sent the same key may have been told.
// Must never: keep the value of an input that holds a key.

import "server-only";
import { createHash, randomUUID } from "node:crypto";
import { appRunBodySchema, type AppInput, type AppRunError, type AppValues } from "@/lib/contract/apps/app";
import { type AppProblem, fillApp, problemSentence, valueOfText, isFileKind } from "@/lib/contract/apps/fill";
import { CONNECTION_PARAMETER } from "@/lib/contract/console";
import { type Failure } from "@/lib/contract/failure";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { readDrawingOf } from "@/lib/contract/editor-workflow/drawing-of";
import { writable } from "@/lib/contract/editor-workflow/write-values";
import { type JsonObject, parseJson } from "@/lib/contract/json/json";
import { operations } from "@/lib/contract/operations";
import { type Graph } from "@/lib/contract/schemas/graph";
import { type ObjectInfo } from "@/lib/contract/schemas/object-info";
import { isSecretName } from "@/lib/contract/secrets/secret-names";
import { IDEMPOTENCY_HEADER, isIdempotencyKey, LABEL_HEADER, mayHaveStarted, submittedJob } from "@/lib/contract/workflow/submission";
import { failed, ok, type Result } from "@/lib/shared/result";
import { type Asked, refusal } from "../bff/guard";
import { readJson } from "../bff/read-request";
import { composition } from "../composition";
import { type Access, openConnection } from "../connections/access";
import { submitOnce } from "../prompts/submit-once";
import { isNotSent, type StoredRun } from "../store/apps/app-runs";
import { type StoredApp } from "../store/apps/apps";
import { isForm, problemOfFile, problemsOfNamed, sendFile, type TakenFile, takeForm } from "./files";
import { filesNotTheirs } from "./pictures";
import { inAppWords, refusedGraph } from "./refused-graph";
import { limitReached, limitsOf, settleMoving } from "./run-limits";
import { refreshRun, sendingOf, submissionKey } from "./run-state";

const CATALOGUE_KEPT_MS = 60_000;
const MOST_CATALOGUES = 3;

type Given = { values: Record<string, unknown>; files: readonly TakenFile[] };

export async function runApp(asked: Asked, app: StoredApp): Promise<Result<StoredRun, Failure>> {
  const key = asked.request.headers.get(IDEMPOTENCY_HEADER) ?? undefined;
  if (key !== undefined && !isIdempotencyKey(key))
    return failed(refusal("BAD_REQUEST", `${IDEMPOTENCY_HEADER} must be 16 to 64 letters, digits and hyphens.`));
  const access = await openConnection(asked.viewer, app.connectionId);
  if (!access.ok) return access;
  if (!isForm(asked.request)) {
    const body = await readJson(asked.request, appRunBodySchema);
    return body.ok ? begin(asked, access.value, app, key, { values: body.value.inputs, files: [] }) : body;
  }
  const form = await takeForm(asked.request);
  if (!form.ok) return form;
  try {
    const { fields, files } = form.value;
    const known = new Map(app.definition.inputs.map((input) => [input.name, input]));
    const texts = [...fields].map(([name, text]): [string, unknown] => {
      const input = known.get(name);
      return [name, input ? valueOfText(input, text) : text];
    });
    // A file's hash represents it until the service has named the file.
    const named = files.map(({ part, hash }): [string, string] => [part, hash]);
    return await begin(asked, access.value, app, key, { values: Object.fromEntries([...texts, ...named]), files });
  } finally {
    await form.value.dispose();
  }
}

async function begin(
  asked: Asked,
  access: Access,
  app: StoredApp,
  key: string | undefined,
  { values, files }: Given,
): Promise<Result<StoredRun, Failure>> {
  const { store } = composition();
  const { memberId } = asked.viewer;
  const contentHash = createHash("sha256").update(canonical(values)).digest("hex");
  const earlier = key === undefined ? undefined : await store.appRuns.findByKey(app.id, memberId, key);
  if (earlier) return again(asked, access, app, { earlier, contentHash, files, values });
  const checked = await check(asked, access, app, { values, files });
  if (!checked.ok) return checked;
  const run = { id: randomUUID(), ...(await beginning(access, app, checked.value, files)) };
  const beginIt = () => store.appRuns.begin({ ...run, contentHash, key }, limitsOf(app, run.createdAt));
  const sent = await sendOnce(asked, access, app, run, { values: checked.value, files }, beginIt);
  if (sent) return sent;
  const other = key === undefined ? undefined : await store.appRuns.findByKey(app.id, memberId, key);
  if (other) return again(asked, access, app, { earlier: other, contentHash, files, values });
  return failed(await limitReached(app, memberId, run.createdAt));
}

/** What is stored of a run before anything is sent. Files have no names yet. */
async function beginning(access: Access, app: StoredApp, values: AppValues, files: readonly TakenFile[]) {
  if (app.limits.atOnce !== undefined) await settleMoving(access, app);
  const { memberId } = access.viewer;
  return {
    appId: app.id,
    memberId,
    version: app.version,
    inputs: keptInputs(app, withoutFiles(values, files)),
    createdAt: composition().now(),
  };
}

function withoutFiles(values: AppValues, files: readonly TakenFile[]): AppValues {
  const parts = new Set(files.map(({ part }) => part));
  return Object.fromEntries(Object.entries(values).filter(([name]) => !parts.has(name)));
}

type Again = Given & { earlier: StoredRun; contentHash: string };

/** The run that this key has already made. If nothing of it was sent, it is sent now; a refused one may have other inputs by then. */
async function again(
  asked: Asked,
  access: Access,
  app: StoredApp,
  { earlier, contentHash, ...given }: Again,
): Promise<Result<StoredRun, Failure>> {
  const isOther = (run: StoredRun) => run.contentHash !== contentHash && run.state !== "refused";
  const conflict = failed(refusal("CONFLICT", `This ${IDEMPOTENCY_HEADER} was used for another run.`));
  if (isOther(earlier)) return conflict;
  const run = await refreshRun(access, app, earlier);
  if (!run.ok || !isNotSent(run.value)) {
    asked.note({ outcome: "the same run again: nothing was sent" });
    return run;
  }
  const checked = await check(asked, access, app, given);
  if (!checked.ok) return checked;
  const { files } = given;
  const { appRuns } = composition().store;
  const anew = { id: earlier.id, contentHash, ...(await beginning(access, app, checked.value, files)) };
  const beginIt = () => appRuns.beginAgain(anew, limitsOf(app, anew.createdAt));
  const sent = await sendOnce(asked, access, app, anew, { values: checked.value, files }, beginIt);
  if (sent) return sent;
  const now = await appRuns.find(app.id, earlier.memberId, earlier.id);
  if (now && !isNotSent(now)) return isOther(now) ? conflict : ok(now);
  // Another request began it meanwhile, and was refused: now it is this one's turn.
  if (now && now.createdAt !== earlier.createdAt) return again(asked, access, app, { earlier: now, contentHash, ...given });
  return failed(await limitReached(app, earlier.memberId, anew.createdAt));
}

/** Checks the values that fill the graph; seeds are drawn. */
async function check({ viewer }: Asked, access: Access, app: StoredApp, { values, files }: Given): Promise<Result<AppValues, Failure>> {
  const { inputs } = app.definition;
  const filled = fillApp(app.definition, values);
  if (!filled.ok) return failed(unprocessable(filled.problems));
  const named = withoutFiles(filled.values, files);
  const problems: AppProblem[] = [];
  for (const file of files) {
    const input = inputs.find(({ name, control }) => name === file.part && isFileKind(control.kind));
    const problem = input
      ? problemOfFile(app, input, file)
      : { input: file.part, label: inputs.find(({ name }) => name === file.part)?.label ?? file.part, code: "wrong_type" as const };
    if (problem) problems.push(problem);
  }
  problems.push(...(await filesNotTheirs(viewer, app, named)));
  if (problems.length === 0) problems.push(...(await problemsOfNamed(access, viewer, app, named)));
  return problems.length === 0 ? ok(filled.values) : failed(unprocessable(problems));
}

type Begun = Pick<StoredRun, "id" | "createdAt">;

/** Marked as under way before the run is stored: a reader at any console then sees that it is being sent. */
async function sendOnce(
  asked: Asked,
  access: Access,
  app: StoredApp,
  run: Begun,
  given: { values: AppValues; files: readonly TakenFile[] },
  beginIt: () => Promise<boolean>,
): Promise<Result<StoredRun, Failure> | undefined> {
  const end = await composition().store.peers.beginWork(sendingOf(run.id));
  let sent: Result<StoredRun, Failure> | undefined;
  try {
    if (await beginIt()) sent = await send(asked, access, app, run, given);
  } finally {
    await end();
  }
  // If another request is sending it, read it again.
  return sent?.ok && sent.value.state === "sending" ? refreshRun(access, app, sent.value) : sent;
}

async function send(
  asked: Asked,
  access: Access,
  app: StoredApp,
  run: Begun,
  { values: checked, files }: { values: AppValues; files: readonly TakenFile[] },
): Promise<Result<StoredRun, Failure>> {
  const { appRuns, appKeeps, submissions } = composition().store;
  const runId = run.id;
  const values = { ...checked };
  for (const file of files) {
    const name = await sendFile(asked, app, file);
    if (!name.ok) return refuse(run, name.failure);
    values[file.part] = name.value;
  }
  if (files.length > 0) await appRuns.set(runId, { inputs: keptInputs(app, values) });
  const named = app.definition.inputs.flatMap(({ name, control }) => (isFileKind(control.kind) ? [values[name]] : []));
  const strings = named.filter((value) => typeof value === "string");
  await appKeeps.giveAgain(asked.viewer.memberId, strings, composition().now());
  const filled = fillApp(app.definition, values);
  if (!filled.ok) return refuse(run, unprocessable(filled.problems));
  const { editor, title } = app.definition;
  const drawing = editor && (await drawingWith(access, editor, filled.graph));
  const body = { prompt: filled.graph, ...(drawing && { extra_data: { extra_pnginfo: { workflow: drawing } } }) };
  const outcome = await submit(asked, app, { runId, title, body: writeExactJson(body) });
  // Another request has sent the same run meanwhile, with another seed.
  const { memberId } = asked.viewer;
  if (!outcome.ok && outcome.failure.code === "CONFLICT" && (await submissions.find({ memberId, key: submissionKey(runId) }))) {
    const other = await appRuns.find(app.id, memberId, runId);
    if (other) return ok(other);
  }
  if (!outcome.ok && !mayHaveStarted(outcome.failure))
    return refuse(run, inAppWords(asked.viewer, app.definition, outcome.failure), refusedGraph(app.definition, outcome.failure));
  const jobId = outcome.ok ? submittedJob(parseJson(outcome.value)) : undefined;
  if (jobId === undefined)
    await appRuns.set(runId, { state: "unknown", error: outcome.ok ? unreadable : { message: outcome.failure.message } });
  else await appRuns.set(runId, { state: "pending", jobId });
  const stored = await appRuns.find(app.id, memberId, runId);
  return stored ? ok(stored) : failed(refusal("INTERNAL", "The run was removed while it was sent."));
}

/** Nothing was started. Another request may have begun the run anew, if this console was cut off meanwhile. */
async function refuse(
  { id, createdAt }: Begun,
  failure: Failure,
  error: AppRunError = { message: failure.message },
): Promise<Result<StoredRun, Failure>> {
  const { store, now } = composition();
  await store.appRuns.set(id, { state: "refused", error, endedAt: now() }, { state: "sending", createdAt, jobId: undefined });
  return failed(failure);
}

const unreadable = { message: "The service's answer names no job.", code: "answer_unreadable" } as const;

/** The editor's file with this run's values, as the editor sends it. Undefined if it is of another graph or cannot take the values. */
async function drawingWith(access: Access, editor: JsonObject, graph: Graph): Promise<JsonObject | undefined> {
  if (!readDrawingOf(editor, graph)) return undefined;
  const info = await catalogueOf(access);
  return info && writable(editor, info).withValues(graph).file;
}

/** Megabytes, and the same for each run of an app; therefore cached. */
async function catalogueOf({ connection, upstream }: Access): Promise<ObjectInfo | undefined> {
  const { catalogues, now } = composition();
  const key = `${connection.id} ${connection.baseUrl}`;
  const kept = catalogues.get(key);
  if (kept && now() - kept.atMs < CATALOGUE_KEPT_MS) return kept.info;
  catalogues.delete(key);
  const read = await upstream.call(operations.getObjectInfo);
  if (!read.ok) return undefined;
  catalogues.set(key, { info: read.value, atMs: now() });
  for (const oldest of [...catalogues.keys()].slice(0, -MOST_CATALOGUES)) catalogues.delete(oldest);
  return read.value;
}

/** The console's only way to submit: held secrets, the ledger, who ran it, and once per key. */
async function submit(
  { request, note, ...asked }: Asked,
  app: StoredApp,
  { runId, title, body }: { runId: string; title: string; body: string },
): Promise<Result<string, Failure>> {
  const address = new URL(request.url);
  address.search = `?${new URLSearchParams({ [CONNECTION_PARAMETER]: app.connectionId }).toString()}`;
  const headers = new Headers({
    "content-type": "application/json",
    [IDEMPOTENCY_HEADER]: submissionKey(runId),
    [LABEL_HEADER]: encodeURIComponent(title),
  });
  const host = request.headers.get("host");
  if (host !== null) headers.set("host", host);
  // Logged as a submission, because the console finds out from the log who ran a job.
  note({ action: "submitPrompt" });
  const answer = await submitOnce({ ...asked, note, request: new Request(address, { method: "POST", headers, body }) });
  return answer.ok ? ok(await answer.value.text()) : answer;
}

function unprocessable(problems: readonly AppProblem[]): Failure {
  return refusal("UNPROCESSABLE", problems.slice(0, 5).map(problemSentence).join(". "), { problems });
}

/** The inputs that are stored with a run: secrets are left out. */
function keptInputs({ definition: { inputs } }: StoredApp, values: AppValues): AppValues {
  const isKept = (name: string) => inputs.some((input: AppInput) => input.name === name && !isSecretName(input.input));
  return Object.fromEntries(Object.entries(values).filter(([name]) => isKept(name)));
}

function canonical(values: Record<string, unknown>): string {
  return writeExactJson(Object.entries(values).sort(([one], [other]) => (one < other ? -1 : 1)));
}
