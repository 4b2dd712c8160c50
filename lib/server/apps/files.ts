// Files that are given to an app: taken in, measured against its limits, sent to its service by the upload that all others take, looked at again.
// Guarantees: no file is held whole in memory; a form that stops coming is not waited for; whoever runs apps only names files that they, the app
// or the team's presets brought; what was taken in is gone from this machine when it was sent.

import "server-only";
import { createHash, randomUUID } from "node:crypto";
import { createWriteStream, openAsBlob } from "node:fs";
import { mkdir, mkdtemp, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { Busboy } from "@fastify/busboy";
import { type AppInput, type AppValues } from "@/lib/contract/apps/app";
import { type AppProblem, problemOf, problemSentence } from "@/lib/contract/apps/fill";
import { isFileKind } from "@/lib/contract/apps/openapi";
import { CONNECTION_PARAMETER } from "@/lib/contract/console";
import { type Failure } from "@/lib/contract/failure";
import { toFileRef, toImageValue } from "@/lib/contract/image-ref";
import { operations } from "@/lib/contract/operations";
import { imageUploadAnswerSchema } from "@/lib/contract/schemas/upload";
import { toPlainLine } from "@/lib/contract/plain-line";
import { isFullDisk } from "@/lib/shared/disk-reserve";
import { failed, ok, type Result } from "@/lib/shared/result";
import { type Viewer } from "../auth/viewer";
import { runOperation } from "../bff/bff-route";
import { type Asked, refusal } from "../bff/guard";
import { composition } from "../composition";
import { type Access } from "../connections/access";
import { type StoredApp } from "../store/apps";
import { pictureSize } from "../thumbnails/resize";
import { seesWorkflows } from "./open-app";

/** Of a whole form: it lies on this machine's disk for a moment. */
const MOST_BYTES = 512 * 1024 ** 2;
const LONGEST_FIELD = 512 * 1024;

export type TakenFile = { part: string; fileName: string; path: string; hash: string; bytes: number; pixels: number | undefined };
export type TakenForm = { fields: ReadonlyMap<string, string>; files: readonly TakenFile[]; dispose(): Promise<void> };

export function isForm(request: Request): boolean {
  return /^multipart\/form-data\b/i.test(request.headers.get("content-type") ?? "");
}

/** The parts of a form, files on this machine's disk. Whoever gets it disposes of it. */
export async function takeForm(request: Request): Promise<Result<TakenForm, Failure>> {
  const { folder, dispose } = await makeFolder();
  try {
    const taken = await readForm(request, folder);
    if (taken.ok) return ok({ ...taken.value, dispose });
    await dispose();
    return taken;
  } catch (error) {
    await dispose();
    // Which the one catch of all routes says.
    if (isFullDisk(error)) throw error;
    if (error instanceof TooLate)
      return failed(refusal("REQUEST_TIMEOUT", `Nothing came of the form for ${composition().env.service.requestTimeoutMs / 1000} s.`));
    if (error instanceof TooLarge) return failed(refusal("FILE_TOO_LARGE", `The form is larger than ${MOST_BYTES} bytes.`));
    return failed(refusal("TRUNCATED_UPLOAD", "The form ended before it was complete."));
  }
}

class TooLarge extends Error {}
class TooLate extends Error {}

async function makeFolder(): Promise<{ folder: string; dispose(): Promise<void> }> {
  const { formsFolder } = composition();
  await mkdir(formsFolder, { recursive: true });
  const folder = await mkdtemp(join(formsFolder, "form-"));
  return { folder, dispose: () => rm(folder, { recursive: true, force: true }) };
}

async function readForm(request: Request, folder: string): Promise<Result<Omit<TakenForm, "dispose">, Failure>> {
  const parser = openParser(request);
  if (!parser || !request.body) return failed(refusal("INVALID_BODY", "The multipart body names no boundary."));
  const fields = new Map<string, string>();
  const files: Promise<TakenFile>[] = [];
  let refused: Failure | undefined;
  parser.on("field", (name, value, nameCut, valueCut) => {
    if (nameCut || valueCut) refused ??= refusal("INVALID_BODY", "A part of the form is too long.");
    fields.set(name, value);
  });
  parser.on("file", (part, stream, fileName) => {
    const path = join(folder, randomUUID());
    const hash = createHash("sha256");
    let bytes = 0;
    stream.on("data", (chunk: Buffer) => {
      bytes += chunk.byteLength;
      hash.update(chunk);
    });
    const written = pipeline(stream, createWriteStream(path)).then(async () => {
      const pixels = await pixelsOf(path);
      return { part, fileName, path, hash: hash.digest("hex"), bytes, pixels };
    });
    // Its end is awaited below; without this an early one would end the process.
    written.catch(() => undefined);
    files.push(written);
  });
  for (const limit of ["fieldsLimit", "filesLimit", "partsLimit"] as const)
    parser.on(limit, () => (refused ??= refusal("INVALID_BODY", "The form has too many parts.")));
  await pipeline(Readable.from(chunksOf(request.body)), parser);
  const taken = await Promise.all(files);
  // What a browser sends for a file field that was left empty.
  return refused ? failed(refused) : ok({ fields, files: taken.filter(({ fileName, bytes }) => fileName !== "" || bytes > 0) });
}

async function* chunksOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const { requestTimeoutMs } = composition().env.service;
  const reader = body.getReader();
  let bytes = 0;
  try {
    for (;;) {
      const next = await inTime(reader.read(), requestTimeoutMs);
      if (next.done) return;
      bytes += next.value.byteLength;
      if (bytes > MOST_BYTES) throw new TooLarge();
      yield next.value;
    }
  } finally {
    reader.releaseLock();
  }
}

/** As for an upload: one that is slow and moves is never cut. */
function inTime<T>(step: Promise<T>, ms: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new TooLate()), ms);
  });
  return Promise.race([step, late]).finally(() => clearTimeout(timer));
}

function openParser(request: Request) {
  const limits = {
    fields: 200,
    files: 50,
    parts: 250,
    fieldSize: LONGEST_FIELD,
    fieldNameSize: 100,
    headerPairs: 100,
  };
  try {
    return new Busboy({ headers: { "content-type": request.headers.get("content-type") ?? "" }, limits });
  } catch {
    return undefined;
  }
}

/** What the app's limits say of a file that was taken in. */
export function problemOfFile(
  { limits: { pictureBytes, picturePixels } }: StoredApp,
  input: AppInput,
  { bytes, pixels }: Pick<TakenFile, "bytes" | "pixels">,
): AppProblem | undefined {
  if (input.control.kind !== "picture") return undefined;
  if (pictureBytes !== undefined && bytes > pictureBytes) return problemOf(input, "file_too_large", pictureBytes);
  if (picturePixels === undefined) return undefined;
  if (pixels === undefined) return problemOf(input, "unreadable_file");
  return pixels > picturePixels ? problemOf(input, "too_many_pixels", picturePixels) : undefined;
}

async function pixelsOf(path: string): Promise<number | undefined> {
  const size = await pictureSize(path);
  return size && size.width * size.height;
}

/** Named pictures that are beyond the app's limits; one that was not given here before is looked at where it lies. */
export async function problemsOfNamed(access: Access, viewer: Viewer, app: StoredApp, values: AppValues): Promise<AppProblem[]> {
  if (app.limits.pictureBytes === undefined && app.limits.picturePixels === undefined) return [];
  const { appKeeps } = composition().store;
  const problems: AppProblem[] = [];
  for (const input of app.definition.inputs) {
    const name = values[input.name];
    if (input.control.kind !== "picture" || typeof name !== "string") continue;
    const size = (await appKeeps.file(app.id, viewer.memberId, name)) ?? (await sizeThere(access, name));
    const problem = size ? problemOfFile(app, input, size) : problemOf(input, "unreadable_file");
    if (problem) problems.push(problem);
  }
  return problems;
}

async function sizeThere(access: Access, name: string): Promise<{ bytes: number; pixels: number | undefined } | undefined> {
  const opened = await access.upstream.forward(operations.view, { query: toFileRef(name) });
  if (!opened.ok || !opened.value.ok) return undefined;
  const { body } = opened.value;
  const { folder, dispose } = await makeFolder();
  const path = join(folder, "picture");
  try {
    await pipeline(Readable.from(body ? chunksOf(body) : []), createWriteStream(path));
    return { bytes: (await stat(path)).size, pixels: await pixelsOf(path) };
  } catch (error) {
    await body?.cancel().catch(() => undefined);
    if (isFullDisk(error)) throw error;
    return undefined;
  } finally {
    await dispose();
  }
}

/** Whoever sees nothing but apps names no file by guessing. */
export async function filesNotTheirs(viewer: Viewer, app: StoredApp, values: Readonly<Record<string, unknown>>): Promise<AppProblem[]> {
  const problems: AppProblem[] = [];
  for (const input of app.definition.inputs) {
    const name = values[input.name];
    if (!isFileKind(input.control.kind) || typeof name !== "string" || name === "") continue;
    if (!(await mayName(viewer, app, name))) problems.push(problemOf(input, "not_yours"));
  }
  return problems;
}

export async function mayName(viewer: Viewer, app: StoredApp, name: string): Promise<boolean> {
  if (seesWorkflows(viewer) && viewer.scope.operations?.includes(operations.view.name) !== false) return true;
  const { appKeeps } = composition().store;
  const files = app.definition.inputs.filter(({ control }) => isFileKind(control.kind));
  if (files.some((input) => input.default === name)) return true;
  if (await appKeeps.file(app.id, viewer.memberId, name)) return true;
  const presets = await appKeeps.presets(app.id, viewer.memberId);
  return presets.some(({ inputs }) => files.some((input) => inputs[input.name] === name));
}

/** Sends it on, and answers the value that names it from then on. */
export async function sendFile(asked: Asked, app: StoredApp, file: TakenFile): Promise<Result<string, Failure>> {
  const form = await formOf(file);
  const address = new URL(asked.request.url);
  address.search = `?${new URLSearchParams({ [CONNECTION_PARAMETER]: app.connectionId }).toString()}`;
  const headers = new Headers({ "content-type": form.type, "content-length": String(form.body.size) });
  const sent = { method: "POST", headers, body: form.body.stream(), signal: asked.request.signal, duplex: "half" } as const;
  // The log tells of the run, or of the file under the app's own act.
  const answer = await runOperation(
    operations.uploadImage,
    { ...asked, request: new Request(address, sent), note: () => undefined },
    ok({}),
  );
  if (!answer.ok) return answer;
  const read = imageUploadAnswerSchema.safeParse(await answer.value.json());
  if (!read.success) return failed(refusal("UPSTREAM_UNREADABLE", "The service's answer to the upload cannot be read."));
  const name = toImageValue(read.data);
  const { bytes, pixels } = file;
  await composition().store.appKeeps.addFile(app.id, asked.viewer.memberId, { name, bytes, pixels });
  return ok(name);
}

/** One file for the app's inputs of its kind, sent on at once. */
export async function receiveFile(asked: Asked, app: StoredApp): Promise<Result<string, Failure>> {
  if (!isForm(asked.request)) return failed(refusal("UNSUPPORTED_MEDIA_TYPE", "The body must be multipart/form-data."));
  const form = await takeForm(asked.request);
  if (!form.ok) return form;
  try {
    const { fields, files } = form.value;
    const [file] = files;
    if (!file) return failed(refusal("MISSING_FILE", "file: the body holds no file of this name."));
    const wanted = fields.get("input");
    const input = app.definition.inputs.find(({ name, control }) => isFileKind(control.kind) && (wanted ?? name) === name);
    if (!input) return failed(refusal("UNPROCESSABLE", "This app takes no such file."));
    const problem = problemOfFile(app, input, file);
    if (problem) return failed(refusal("UNPROCESSABLE", problemSentence(problem), { problems: [problem] }));
    return await sendFile(asked, app, file);
  } finally {
    await form.value.dispose();
  }
}

/** With its length: not every service takes an upload that does not tell it. */
async function formOf({ path, fileName }: TakenFile): Promise<{ type: string; body: Blob }> {
  const boundary = `----lightdesk${randomUUID()}`;
  const last = toPlainLine(fileName).split(/[/\\]/).at(-1)?.replaceAll('"', "%22").slice(-100) || "file";
  const part = (head: string) => `--${boundary}\r\nContent-Disposition: form-data; ${head}\r\n`;
  const begin = `${part('name="type"')}\r\ninput\r\n${part(`name="image"; filename="${last}"`)}Content-Type: application/octet-stream\r\n\r\n`;
  const body = new Blob([begin, await openAsBlob(path), `\r\n--${boundary}--\r\n`]);
  return { type: `multipart/form-data; boundary=${boundary}`, body };
}
