// Images that a member may use as app inputs, and their uploads.

import "server-only";
import { type AppPicture } from "@/lib/contract/apps/app";
import { type AppProblem, createProblem, formatProblem, isFileKind } from "@/lib/contract/apps/fill";
import { toFileRef, toImageValue } from "@/lib/contract/assets/file-refs";
import { createFailure, type Failure } from "@/lib/contract/failure";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { operations } from "@/lib/contract/operations";
import { maskUploadFieldsSchema } from "@/lib/contract/operations/files";
import { getKindByName } from "@/lib/contract/views/outputs-view";
import { failed, type Result } from "@/lib/shared/result";
import { type Context } from "../auth/viewer";
import { type AuthedContext } from "../context";
import { type StoredResult } from "../store/apps/app-runs";
import { type StoredApp } from "../store/apps/apps";
import { checkFileLimits, isForm, type ReceivedFile, type ReceivedForm, receiveForm, uploadFile, uploadMask } from "./files";
import { canSeeWorkflows } from "./open-app";

const MAX_LISTED_IMAGES = 60;

export async function checkFileAccess(context: Context, app: StoredApp, values: Readonly<Record<string, unknown>>): Promise<AppProblem[]> {
  const problems: AppProblem[] = [];
  for (const input of app.definition.inputs) {
    const name = values[input.name];
    if (!isFileKind(input.control.kind) || typeof name !== "string" || name === "") continue;
    if (!(await canUseFile(context, app, name))) problems.push(createProblem(input, "not_yours"));
  }
  return problems;
}

export async function canUseFile({ composition: { store }, viewer }: Context, app: StoredApp, name: string): Promise<boolean> {
  if (canSeeWorkflows(viewer) && viewer.scope.operations?.includes(operations.view.name) !== false) return true;
  if (getExampleFiles(app).includes(name)) return true;
  const { appFiles, appRuns } = store;
  const { connectionId, definition } = app;
  const { memberId } = viewer;
  if (await appFiles.findFile(connectionId, memberId, name)) return true;
  for await (const result of appRuns.findResults(connectionId, memberId, writeExactJson(toFileRef(name).filename)))
    if (toFileValue(result) === name) return true;
  const fileInputs = definition.inputs.filter(({ control }) => isFileKind(control.kind));
  const presets = await appFiles.listPresets(app.id, memberId);
  // A member's own presets may name files from a former role.
  return presets.some(({ isTeam, inputs }) => isTeam && fileInputs.some((input) => inputs[input.name] === name));
}

export async function listInputImages({ composition: { store }, viewer }: Context, app: StoredApp): Promise<AppPicture[]> {
  const { appFiles, appRuns } = store;
  const uploads = await appFiles.listFiles(app.connectionId, viewer.memberId, MAX_LISTED_IMAGES);
  const resultImages: AppPicture[] = [];
  for await (const result of appRuns.findResults(app.connectionId, viewer.memberId, '"kind":"image"')) {
    const value = result.kind === "image" ? toFileValue(result) : undefined;
    if (value !== undefined) resultImages.push({ value, name: result.name, from: "made" });
    if (resultImages.length === MAX_LISTED_IMAGES) break;
  }
  const candidates: AppPicture[] = [
    ...getExampleFiles(app).map((value) => ({ value, name: toFileRef(value).filename, from: "example" as const })),
    ...resultImages,
    ...uploads.map(({ name, ownName }) => ({ value: name, name: ownName || toFileRef(name).filename, from: "given" as const })),
  ];
  const images = candidates.filter(({ value }) => getKindByName(toFileRef(value).filename) === "image");
  return [...new Map(images.map((image) => [image.value, image])).values()];
}

function toFileValue({ file }: StoredResult): string | undefined {
  return file && toImageValue({ ...file, name: file.filename });
}

function getExampleFiles({ definition: { inputs } }: StoredApp): string[] {
  const fileInputs = inputs.filter(({ control }) => isFileKind(control.kind));
  return fileInputs.flatMap((input) => [input.default, input.example].filter((value) => typeof value === "string"));
}

export async function receiveFile(context: AuthedContext, app: StoredApp): Promise<Result<string, Failure>> {
  return withFile(context, async ({ fields }, file) => {
    const requestedInput = fields.get("input");
    const input = app.definition.inputs.find(({ name, control }) => isFileKind(control.kind) && (requestedInput ?? name) === name);
    if (!input) return failed(createFailure("UNPROCESSABLE", "This app has no such file input."));
    const problem = checkFileLimits(app, input, file);
    if (problem) return failed(createFailure("UNPROCESSABLE", formatProblem(problem), { problems: [problem] }));
    return uploadFile(context, app, file);
  });
}

async function withFile<T>(
  { request, composition }: AuthedContext,
  handleFile: (form: ReceivedForm, file: ReceivedFile) => Promise<Result<T, Failure>>,
): Promise<Result<T, Failure>> {
  if (!isForm(request)) return failed(createFailure("UNSUPPORTED_MEDIA_TYPE", "The body must be multipart/form-data."));
  const form = await receiveForm(composition, request);
  if (!form.ok) return form;
  try {
    const [file] = form.value.files;
    return file ? await handleFile(form.value, file) : failed(createFailure("MISSING_FILE", "The body contains no file."));
  } finally {
    await form.value.dispose();
  }
}

export async function receiveMask(context: AuthedContext, app: StoredApp): ReturnType<typeof uploadMask> {
  return withFile(context, async ({ fields }, mask) => {
    const parsed = maskUploadFieldsSchema.safeParse(Object.fromEntries(fields));
    if (!parsed.success) return failed(createFailure("INVALID_BODY", "original_ref: must be JSON text with a filename."));
    const { original_ref: originalRef } = parsed.data;
    const originalName = toImageValue({ ...originalRef, name: originalRef.filename });
    if (!(await canUseFile(context, app, originalName))) return failed(createFailure("NOT_FOUND", "There is no such file."));
    const input = app.definition.inputs.find(({ control }) => control.kind === "picture" && control.hasMask);
    if (!input) return failed(createFailure("UNPROCESSABLE", "This app doesn't accept a mask."));
    // A mask has the same dimensions as its image.
    const problem = checkFileLimits({ limits: { picturePixels: app.limits.picturePixels } }, input, mask);
    if (problem) return failed(createFailure("UNPROCESSABLE", formatProblem(problem), { problems: [problem] }));
    const storedOriginal = await context.composition.store.appFiles.findFile(app.connectionId, context.viewer.memberId, originalName);
    // Sends the validated reference, because services parse references differently.
    return uploadMask(context, app, mask, { ref: toFileRef(originalName), original: storedOriginal });
  });
}
