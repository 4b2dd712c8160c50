// Which of the service's files a member may see and use without rights on the service's own files: files they gave, files their runs made,
// files named by the app or by a preset that they see.
// Guarantees: checked for every named file and every caller; no member finds another member's file by its name.

import "server-only";
import { type AppPicture } from "@/lib/contract/apps/app";
import { type AppProblem, isFileKind, problemOf } from "@/lib/contract/apps/fill";
import { toFileRef, toImageValue } from "@/lib/contract/assets/image-ref";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { operations } from "@/lib/contract/operations";
import { kindOfName } from "@/lib/contract/views/media-kind";
import { type Viewer } from "../auth/viewer";
import { composition } from "../composition";
import { type KeptResult } from "../store/apps/app-runs";
import { type StoredApp } from "../store/apps/apps";
import { seesWorkflows } from "./open-app";

/** Limit for given and for made files, each. */
const MOST_SHOWN = 60;

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
  if (examplesOf(app).includes(name)) return true;
  const { appKeeps, appRuns } = composition().store;
  const { connectionId, definition } = app;
  const { memberId } = viewer;
  if (await appKeeps.file(connectionId, memberId, name)) return true;
  for await (const result of appRuns.made(connectionId, memberId, writeExactJson(toFileRef(name).filename)))
    if (valueOf(result) === name) return true;
  const files = definition.inputs.filter(({ control }) => isFileKind(control.kind));
  const presets = await appKeeps.presets(app.id, memberId);
  return presets.some(({ inputs }) => files.some((input) => inputs[input.name] === name));
}

/** Newest first, each once. */
export async function listPictures(viewer: Viewer, app: StoredApp): Promise<AppPicture[]> {
  const { appKeeps, appRuns } = composition().store;
  const given = await appKeeps.files(app.connectionId, viewer.memberId, MOST_SHOWN);
  const made: AppPicture[] = [];
  for await (const result of appRuns.made(app.connectionId, viewer.memberId, '"kind":"image"')) {
    const value = result.kind === "image" ? valueOf(result) : undefined;
    if (value !== undefined) made.push({ value, name: result.name, from: "made" });
    if (made.length === MOST_SHOWN) break;
  }
  const pictures: AppPicture[] = [
    ...examplesOf(app).map((value) => ({ value, name: toFileRef(value).filename, from: "example" as const })),
    ...made,
    ...given.map(({ name, ownName }) => ({ value: name, name: ownName || toFileRef(name).filename, from: "given" as const })),
  ];
  const shown = pictures.filter(({ value }) => kindOfName(toFileRef(value).filename) === "image");
  return [...new Map(shown.map((picture) => [picture.value, picture])).values()];
}

function valueOf({ file }: KeptResult): string | undefined {
  return file && toImageValue({ ...file, name: file.filename });
}

function examplesOf({ definition: { inputs } }: StoredApp): string[] {
  const files = inputs.filter(({ control }) => isFileKind(control.kind));
  return files.flatMap((input) => [input.default, input.example].filter((value) => typeof value === "string"));
}
