// Saved app inputs, for one member or for the team. Only the author or an admin can change a preset.

import "server-only";
import { type z } from "zod";
import { type AppPreset, type appPresetBodySchema } from "@/lib/contract/apps/app";
import { checkValue, formatProblem } from "@/lib/contract/apps/fill";
import { createFailure, type Failure } from "@/lib/contract/failure";
import { hasRole } from "@/lib/contract/members/roles";
import { isSecretName } from "@/lib/contract/secrets/mask-secrets";
import { failed, ok, type Result } from "@/lib/shared/result";
import { type Context, type Viewer } from "../auth/viewer";
import { type AuthedContext } from "../context";
import { type StoredPreset } from "../store/apps/app-files";
import { type StoredApp } from "../store/apps/apps";
import { checkFileAccess } from "./input-images";

type PresetBody = z.output<typeof appPresetBodySchema>;
const presetNotFoundFailure = createFailure("NOT_FOUND", "There is no such preset.");

export async function listPresets({ composition: { store }, viewer }: Context, app: StoredApp): Promise<AppPreset[]> {
  const presets = await store.appFiles.listPresets(app.id, viewer.memberId);
  return presets.map((preset) => toPreset(viewer, preset));
}

export async function addPreset(context: AuthedContext, app: StoredApp, body: PresetBody): Promise<Result<AppPreset, Failure>> {
  const inputs = await checkPresetInputs(context, app, body);
  if (!inputs.ok) return inputs;
  const preset = { ...body, inputs: inputs.value, memberId: context.viewer.memberId };
  const id = await context.composition.store.appFiles.addPreset(app.id, preset);
  if (id === undefined)
    return failed(createFailure("CONFLICT", "You have reached the maximum number of presets for this app. Remove one first."));
  return ok(toPreset(context.viewer, { ...preset, id }));
}

export async function changePreset(context: AuthedContext, app: StoredApp, body: PresetBody): Promise<Result<AppPreset, Failure>> {
  const result = await findEditablePreset(context, app);
  if (!result.ok) return result;
  const inputs = await checkPresetInputs(context, app, body);
  if (!inputs.ok) return inputs;
  const preset = { ...result.value, ...body, inputs: inputs.value };
  await context.composition.store.appFiles.changePreset(preset.id, preset);
  return ok(toPreset(context.viewer, preset));
}

export async function removePreset(context: AuthedContext, app: StoredApp): Promise<Result<true, Failure>> {
  const result = await findEditablePreset(context, app);
  if (!result.ok) return result;
  await context.composition.store.appFiles.removePreset(result.value.id);
  return ok(true);
}

async function findEditablePreset({ viewer, params, composition }: AuthedContext, app: StoredApp): Promise<Result<StoredPreset, Failure>> {
  const presets = await composition.store.appFiles.listPresets(app.id, viewer.memberId);
  const preset = presets.find(({ id }) => id === params.preset);
  if (!preset) return failed(presetNotFoundFailure);
  return canChangePreset(viewer, preset)
    ? ok(preset)
    : failed(createFailure("FORBIDDEN", "Only the preset's author or an admin can change it."));
}

async function checkPresetInputs(context: Context, app: StoredApp, { inputs }: PresetBody): Promise<Result<PresetBody["inputs"], Failure>> {
  const presetInputs = app.definition.inputs.filter(({ name, input }) => Object.hasOwn(inputs, name) && !isSecretName(input));
  const values = Object.fromEntries(presetInputs.flatMap(({ name }) => (inputs[name] === undefined ? [] : [[name, inputs[name]]])));
  const valueProblems = presetInputs.flatMap((input) => {
    const value = values[input.name];
    const result = value === "" ? undefined : checkValue(input, value, () => 0);
    return result?.ok === false ? [result.problem] : [];
  });
  const problems = [...valueProblems, ...(await checkFileAccess(context, app, values))];
  const [firstProblem] = problems;
  return firstProblem ? failed(createFailure("UNPROCESSABLE", formatProblem(firstProblem), { problems })) : ok(values);
}

function canChangePreset({ memberId, role }: Viewer, preset: Pick<StoredPreset, "memberId">): boolean {
  return preset.memberId === memberId || hasRole(role, "admin");
}

function toPreset(viewer: Viewer, preset: StoredPreset): AppPreset {
  const { id, name, inputs, isTeam } = preset;
  return { id, name, inputs, isTeam, canChange: canChangePreset(viewer, preset) };
}
