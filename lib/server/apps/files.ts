// Receives the files of an app run and uploads them to its service. Files are streamed to disk and deleted afterwards.

import "server-only";
import { createHash, randomUUID } from "node:crypto";
import { createWriteStream, openAsBlob } from "node:fs";
import { mkdir, mkdtemp, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { Busboy } from "@fastify/busboy";
import { type z } from "zod";
import { type AppInput, type AppValues } from "@/lib/contract/apps/app";
import { type AppProblem, createProblem } from "@/lib/contract/apps/fill";
import { type FileRef, toFileRef, toImageValue } from "@/lib/contract/assets/file-refs";
import { CONNECTION_PARAMETER } from "@/lib/contract/console";
import { createFailure, type Failure } from "@/lib/contract/failure";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { type Operation } from "@/lib/contract/operation";
import { operations } from "@/lib/contract/operations";
import { imageUploadResponseSchema, maskUploadResponseSchema } from "@/lib/contract/operations/files";
import { toPlainLine } from "@/lib/contract/plain-line";
import { withTimeout } from "@/lib/shared/async";
import { isFullDisk } from "@/lib/shared/error-codes";
import { failed, ok, type Result } from "@/lib/shared/result";
import { type Viewer } from "../auth/viewer";
import { type Composition, type Dependencies } from "../composition-type";
import { type Access } from "../connections/access";
import { type AuthedContext } from "../context";
import { runOperation } from "../operations/run-operation";
import { type StoredAppFile } from "../store/apps/app-files";
import { type StoredApp } from "../store/apps/apps";
import { readImageSize } from "../thumbnails/resize";

/** Limit for a complete form. Forms are temporarily stored on disk. */
const MAX_FORM_BYTES = 512 * 1024 ** 2;
const MAX_FIELD_BYTES = 512 * 1024;

export type ReceivedFile = { fieldName: string; fileName: string; path: string; hash: string; bytes: number; pixels: number | undefined };
export type ReceivedForm = { fields: ReadonlyMap<string, string>; files: readonly ReceivedFile[]; dispose(): Promise<void> };

export function isForm(request: Request): boolean {
  return /^multipart\/form-data\b/i.test(request.headers.get("content-type") ?? "");
}

/** Reads the parts of a form; files are written to this machine's disk. The caller must call `dispose`. */
export async function receiveForm(composition: Composition, request: Request): Promise<Result<ReceivedForm, Failure>> {
  const { folder, dispose } = await createTempFolder(composition);
  try {
    const formResult = await readForm(composition, request, folder);
    if (formResult.ok) return ok({ ...formResult.value, dispose });
    await dispose();
    return formResult;
  } catch (error) {
    await dispose();
    // The route wrapper reports a full disk.
    if (isFullDisk(error)) throw error;
    if (error instanceof TimeoutError)
      return failed(createFailure("REQUEST_TIMEOUT", `No form data arrived for ${composition.env.service.requestTimeoutMs / 1000} s.`));
    if (error instanceof TooLargeError) return failed(createFailure("FILE_TOO_LARGE", `The form is larger than ${MAX_FORM_BYTES} bytes.`));
    return failed(createFailure("TRUNCATED_UPLOAD", "The form ended before it was complete."));
  }
}

class TooLargeError extends Error {}
class TimeoutError extends Error {}

async function createTempFolder({ formsFolder }: Dependencies<"formsFolder">): Promise<{ folder: string; dispose(): Promise<void> }> {
  await mkdir(formsFolder, { recursive: true });
  const folder = await mkdtemp(join(formsFolder, "form-"));
  return { folder, dispose: () => rm(folder, { recursive: true, force: true }) };
}

async function readForm(
  composition: Composition,
  request: Request,
  folder: string,
): Promise<Result<Omit<ReceivedForm, "dispose">, Failure>> {
  const parser = createParser(request);
  if (!parser || !request.body) return failed(createFailure("INVALID_BODY", "The multipart body has no boundary."));
  const fields = new Map<string, string>();
  const files: Promise<ReceivedFile>[] = [];
  const streams: Readable[] = [];
  // Without this listener, an error after the end of the pipeline would crash the process.
  parser.on("error", () => undefined);
  let formFailure: Failure | undefined;
  parser.on("field", (name, value, isNameTruncated, isValueTruncated) => {
    if (isNameTruncated || isValueTruncated) formFailure ??= createFailure("INVALID_BODY", "A part of the form is too long.");
    fields.set(name, value);
  });
  // Not every client sends a file name.
  parser.on("file", (fieldName, stream, fileName = "") => {
    stream.on("error", () => undefined);
    const path = join(folder, randomUUID());
    const hash = createHash("sha256");
    let bytes = 0;
    stream.on("data", (chunk: Buffer) => {
      bytes += chunk.byteLength;
      hash.update(chunk);
    });
    const filePromise = pipeline(stream, createWriteStream(path)).then(async () => {
      const pixels = await countPixels(path);
      return { fieldName, fileName, path, hash: hash.digest("hex"), bytes, pixels };
    });
    // If a file cannot be written, stop reading: otherwise the form would stall.
    filePromise.catch((error: unknown) => parser.destroy(error instanceof Error ? error : undefined));
    files.push(filePromise);
    streams.push(stream);
  });
  for (const limit of ["fieldsLimit", "filesLimit", "partsLimit"] as const)
    parser.on(limit, () => (formFailure ??= createFailure("INVALID_BODY", "The form has too many parts.")));
  try {
    await pipeline(Readable.from(readChunks(composition, request.body)), parser);
  } catch (error) {
    // The parser doesn't close unfinished files, which would keep their disk space until the console stops.
    for (const stream of streams) stream.destroy();
    await Promise.allSettled(files);
    throw error;
  }
  const receivedFiles = await Promise.all(files);
  // Browsers send an empty nameless part for a file field that was left empty.
  return formFailure
    ? failed(formFailure)
    : ok({ fields, files: receivedFiles.filter(({ fileName, bytes }) => fileName !== "" || bytes > 0) });
}

async function* readChunks({ env }: Dependencies<"env">, body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const { requestTimeoutMs } = env.service;
  const reader = body.getReader();
  let bytes = 0;
  try {
    for (;;) {
      const readResult = await withReadTimeout(reader.read(), requestTimeoutMs);
      if (readResult.done) return;
      bytes += readResult.value.byteLength;
      if (bytes > MAX_FORM_BYTES) throw new TooLargeError();
      yield readResult.value;
    }
  } finally {
    reader.releaseLock();
  }
}

/** The timeout restarts with every chunk, so a slow upload isn't aborted. */
function withReadTimeout<T>(promise: Promise<T>, timeoutMs: number): Promise<T> {
  return withTimeout(promise, timeoutMs, () => {
    throw new TimeoutError();
  });
}

function createParser(request: Request) {
  const limits = {
    fields: 200,
    files: 50,
    parts: 250,
    fieldSize: MAX_FIELD_BYTES,
    fieldNameSize: 100,
    headerPairs: 100,
  };
  try {
    return new Busboy({ headers: { "content-type": request.headers.get("content-type") ?? "" }, limits });
  } catch {
    return undefined;
  }
}

export function checkFileLimits(
  { limits: { pictureBytes, picturePixels } }: Pick<StoredApp, "limits">,
  input: AppInput,
  { bytes, pixels }: Pick<ReceivedFile, "bytes" | "pixels">,
): AppProblem | undefined {
  if (input.control.kind !== "picture") return undefined;
  if (pictureBytes !== undefined && bytes > pictureBytes) return createProblem(input, "file_too_large", pictureBytes);
  if (picturePixels === undefined) return undefined;
  if (pixels === undefined) return createProblem(input, "unreadable_file");
  return pixels > picturePixels ? createProblem(input, "too_many_pixels", picturePixels) : undefined;
}

async function countPixels(path: string): Promise<number | undefined> {
  const size = await readImageSize(path);
  return size && size.width * size.height;
}

/** Checks images referenced by name. Images that were not uploaded through the console are fetched from the service and measured. */
export async function checkReferencedImages(access: Access, viewer: Viewer, app: StoredApp, values: AppValues): Promise<AppProblem[]> {
  if (app.limits.pictureBytes === undefined && app.limits.picturePixels === undefined) return [];
  const { appFiles } = access.composition.store;
  const problems: AppProblem[] = [];
  for (const input of app.definition.inputs) {
    const name = values[input.name];
    if (input.control.kind !== "picture" || typeof name !== "string") continue;
    const file = await appFiles.findFile(app.connectionId, viewer.memberId, name);
    const size = file && file.bytes > 0 ? file : await measureRemoteFile(access, name);
    const problem = size ? checkFileLimits(app, input, size) : createProblem(input, "unreadable_file");
    if (problem) problems.push(problem);
  }
  return problems;
}

async function measureRemoteFile(access: Access, name: string): Promise<{ bytes: number; pixels: number | undefined } | undefined> {
  const result = await access.upstream.forward(operations.view, { query: toFileRef(name) });
  if (!result.ok || !result.value.ok) return undefined;
  const { body } = result.value;
  const { folder, dispose } = await createTempFolder(access.composition);
  const path = join(folder, "picture");
  try {
    await pipeline(Readable.from(body ? readChunks(access.composition, body) : []), createWriteStream(path));
    return { bytes: (await stat(path)).size, pixels: await countPixels(path) };
  } catch (error) {
    await body?.cancel().catch(() => undefined);
    if (isFullDisk(error)) throw error;
    return undefined;
  } finally {
    await dispose();
  }
}

export async function uploadFile(context: AuthedContext, app: StoredApp, file: ReceivedFile): Promise<Result<string, Failure>> {
  const result = await forwardUpload(context, app.connectionId, operations.uploadImage, await buildForm(file, { type: "input" }));
  if (!result.ok) return result;
  const parsed = imageUploadResponseSchema.safeParse(result.value);
  return parsed.success ? ok(await storeUpload(context, app, parsed.data, file)) : failed(unreadableFailure);
}

const unreadableFailure = createFailure("UPSTREAM_UNREADABLE", "Couldn't read the service's response to the upload.");

/** Sends Content-Length, because some services reject an upload without it. */
export async function forwardUpload(
  context: AuthedContext,
  connectionId: string | undefined,
  operation: Operation,
  form: Blob,
): Promise<Result<unknown, Failure>> {
  const url = new URL(context.request.url);
  url.search = connectionId === undefined ? "" : `?${new URLSearchParams({ [CONNECTION_PARAMETER]: connectionId }).toString()}`;
  const headers = new Headers({ "content-type": form.type, "content-length": String(form.size) });
  const init = { method: "POST", headers, body: form.stream(), signal: context.request.signal, duplex: "half" } as const;
  // The audit log records the action of the caller, not this call.
  const result = await runOperation(operation, { ...context, request: new Request(url, init), annotateAudit: () => undefined }, ok({}));
  return result.ok ? ok(await result.value.json()) : result;
}

async function storeUpload(
  { viewer, composition }: AuthedContext,
  app: StoredApp,
  response: z.output<typeof imageUploadResponseSchema>,
  { fileName, bytes, pixels }: Pick<ReceivedFile, "fileName" | "bytes" | "pixels">,
): Promise<string> {
  const { store, now } = composition;
  const name = toImageValue(response);
  await store.appFiles.addFile(app.id, viewer.memberId, { name, ownName: toPlainLine(fileName).slice(0, 200), bytes, pixels }, now());
  return name;
}

/** The service applies the mask to the image at `ref`. The result belongs to the member and is recorded with the original's size. */
export async function uploadMask(
  context: AuthedContext,
  app: StoredApp,
  mask: ReceivedFile,
  { ref, original }: { ref: FileRef; original: StoredAppFile | undefined },
): Promise<Result<z.output<typeof maskUploadResponseSchema>, Failure>> {
  // A local server returns a name even if it stored nothing. A random name can't collide with another member's file.
  const file = { ...mask, fileName: `clipspace-mask-${randomUUID()}.png` };
  const form = await buildForm(file, { original_ref: writeExactJson(ref) });
  const result = await forwardUpload(context, app.connectionId, operations.uploadMask, form);
  if (!result.ok) return result;
  const parsed = maskUploadResponseSchema.safeParse(result.value);
  if (!parsed.success) return failed(unreadableFailure);
  await storeUpload(context, app, parsed.data, { fileName: original?.ownName ?? "", bytes: original?.bytes ?? 0, pixels: mask.pixels });
  return ok(parsed.data);
}

/** Not a `FormData`, because converting it to a Blob would load the file into memory. */
async function buildForm({ path, fileName }: ReceivedFile, fields: Readonly<Record<string, string>>): Promise<Blob> {
  const boundary = `----lightdesk${randomUUID()}`;
  const baseName = toPlainLine(fileName).split(/[/\\]/).at(-1)?.replaceAll('"', "%22").slice(-100) || "file";
  // `name [output]` would refer to an output file.
  const safeName = baseName.replace(/\]$/, "_");
  const formatPartHeader = (parameters: string) => `--${boundary}\r\nContent-Disposition: form-data; ${parameters}\r\n`;
  const fieldParts = Object.entries(fields).map(([name, text]) => `${formatPartHeader(`name="${name}"`)}\r\n${text}\r\n`);
  const prefix = `${fieldParts.join("")}${formatPartHeader(`name="image"; filename="${safeName}"`)}Content-Type: application/octet-stream\r\n\r\n`;
  const type = `multipart/form-data; boundary=${boundary}`;
  return new Blob([prefix, await openAsBlob(path), `\r\n--${boundary}--\r\n`], { type });
}
