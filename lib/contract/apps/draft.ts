// Drafts an app from pinned inputs, from the App mode of an editor file, or from a job's graph. Doesn't import zod, to keep it out of the
// Run page's scripts.

import { asArray, isEditorFile, readEditorFile, toIdText } from "../editor-workflow/file";
import { findNodes, findOuterName, findWidgetLocations } from "../editor-workflow/values";
import { asObject, getOwn } from "../json/json";
import { listInputs } from "../nodes/dynamic-inputs";
import { guessKind, type InputSpec, readInputSpec } from "../nodes/input-spec";
import { toPlainLine } from "../plain-line";
import { type Graph } from "../schemas/graph";
import { type ObjectInfo } from "../schemas/object-info";
import { isSecretName } from "../secrets/mask-secrets";
import { getNodeName, isLink, isSeedName } from "../workflow/graph";
import { type AppControl, type AppDefinition, type AppInput, type AppOutput, type AppValue } from "./app";
import { checkValue } from "./fill";

export type AppPin = { node: string; input: string; shownAs?: string };
type DraftSource = { graph: Graph; editor?: Record<string, unknown>; title: string; pins?: readonly AppPin[]; outputs?: readonly string[] };

const MAX_INPUTS = 100;
const MAX_CHOICES = 1000;
const MAX_DEFAULT_LENGTH = 100_000;

/** Without `pins` and `outputs`, uses those of the file's App mode. */
export function createAppDraft({ graph, editor, title, ...selection }: DraftSource, catalogue?: ObjectInfo): AppDefinition {
  const appMode = editor && readAppMode(editor, catalogue);
  const inputs: AppInput[] = [];
  for (const [pin, ...linkedRefs] of (selection.pins?.map((pin) => [pin]) ?? appMode?.pins ?? []).slice(0, MAX_INPUTS)) {
    const input = pin && createInputDraft(graph, pin, catalogue, inputs);
    // Keys are requested separately, so another input never sets them.
    const otherRefs = linkedRefs.filter(
      (inputRef) =>
        isLiteral(getOwn(getOwn(graph, inputRef.node)?.inputs, inputRef.input)) &&
        !isSecretName(inputRef.input) &&
        !isUsed(inputRef, inputs),
    );
    if (input) inputs.push({ ...input, ...(otherRefs.length > 0 && { also: otherRefs }) });
  }
  const nodes = new Set(selection.outputs ?? appMode?.outputs ?? []);
  const outputs = [...nodes].flatMap((node) => createOutputDraft(graph, node, catalogue) ?? []).slice(0, 50);
  const plainTitle = toPlainLine(title).trim().slice(0, 80).trim();
  return { title: plainTitle || "App", text: "", tags: [], inputs, outputs, graph, ...(editor && { editor }) };
}

export function findOmittedInputs(editor: Record<string, unknown>, inputs: readonly AppInput[], catalogue?: ObjectInfo): string[] {
  const pinGroups = readAppMode(editor, catalogue)?.pins ?? [];
  return pinGroups.flatMap((inputRefs) =>
    inputRefs.some((inputRef) => isUsed(inputRef, inputs)) ? [] : inputRefs.slice(0, 1).map(({ input, shownAs = input }) => shownAs),
  );
}

/** Reads `extra.linearData`: the selected inputs, each with all graph inputs that it sets. Undefined if the file has none. */
export function readAppMode(editor: Record<string, unknown>, catalogue?: ObjectInfo): { pins: AppPin[][]; outputs: string[] } | undefined {
  const data = asObject(asObject(editor.extra)?.linearData);
  if (!data) return undefined;
  const file = isEditorFile(editor) ? readEditorFile(editor, catalogue) : undefined;
  const pins = asArray(data.inputs).flatMap((entry) => {
    const [node, input] = [toIdText(asArray(entry)[0]), asArray(entry)[1]];
    if (node === undefined || typeof input !== "string") return [];
    const [firstRef = { node, input }, ...otherRefs] = file ? findWidgetLocations(file, node, input) : [];
    const shownAs = file && findOuterName(file, node, input, firstRef.input);
    return [[shownAs === undefined ? firstRef : { ...firstRef, shownAs }, ...otherRefs]];
  });
  const outputs = asArray(data.outputs).flatMap((item) => {
    const id = toIdText(item);
    if (id === undefined) return [];
    const matches = file ? findNodes(file, id) : [];
    return matches.length > 0 ? matches.map((match) => match.path + match.id) : [id];
  });
  return { pins, outputs };
}

type UsedInput = Pick<AppInput, "name" | "node" | "input" | "also">;

function isUsed({ node, input }: AppPin, usedInputs: readonly UsedInput[]): boolean {
  return usedInputs.some((usedInput) =>
    [usedInput, ...(usedInput.also ?? [])].some((inputRef) => inputRef.node === node && inputRef.input === input),
  );
}

function isLiteral(value: unknown): boolean {
  return value !== undefined && !isLink(value);
}

/** Undefined if a user cannot fill in this input, for example a link, a key or a list. */
export function createInputDraft(
  graph: Graph,
  { node: nodeId, input, shownAs = input }: AppPin,
  catalogue?: ObjectInfo,
  usedInputs: readonly UsedInput[] = [],
): AppInput | undefined {
  const node = getOwn(graph, nodeId);
  const value = getOwn(node?.inputs, input);
  if (!node || isLink(value) || isSecretName(input)) return undefined;
  if (isUsed({ node: nodeId, input }, usedInputs)) return undefined;
  const info = getOwn(catalogue, node.class_type);
  const inputInfo = listInputs(info, node.inputs).find(({ name }) => name === input);
  const control = createControl(inputInfo && readInputSpec(input, inputInfo.raw), { input, classType: node.class_type, value });
  if (!control) return undefined;
  const base: AppInput = {
    name: createUnusedName(shownAs, usedInputs),
    node: nodeId,
    input,
    label: createLabel(shownAs, node._meta?.title?.trim()),
    help: "",
    group: "",
    control,
    isRequired: ["picture", "video", "audio"].includes(control.kind),
  };
  const defaultValue = getDefault(base, value);
  return defaultValue === undefined ? base : { ...base, default: defaultValue };
}

export function createOutputDraft(graph: Graph, nodeId: string, catalogue?: ObjectInfo): AppOutput | undefined {
  const node = getOwn(graph, nodeId);
  if (!node) return undefined;
  const name = toPlainLine(getNodeName(node, getOwn(catalogue, node.class_type)?.display_name))
    .trim()
    .slice(0, 80)
    .trim();
  return { node: nodeId, label: name || nodeId };
}

/** No default for a seed, which is drawn for each run, or for a file, which each user uploads. */
function getDefault(input: AppInput, value: unknown): AppValue | undefined {
  if (["seed", "picture", "video", "audio"].includes(input.control.kind)) return undefined;
  if (typeof value === "string" && value.length > MAX_DEFAULT_LENGTH) return undefined;
  const result = checkValue(input, value);
  return result.ok ? result.value : undefined;
}

type InputContext = { input: string; classType: string; value: unknown };

function createControl(spec: InputSpec | undefined, { input, classType, value }: InputContext): AppControl | undefined {
  if (typeof value === "object" && value !== null) return undefined;
  switch (spec?.kind) {
    case "text":
      return { kind: "text", isLong: spec.multiline };
    case "boolean":
      return { kind: "switch" };
    case "number":
      return createNumberControl(input, spec);
    case "hex-color":
      return { kind: "text", isLong: false };
    case "choice":
      return createChoiceControl(spec, value);
    case "box":
      return undefined;
    default:
      return guessControl({ input, classType, value });
  }
}

function createNumberControl(name: string, { integer, min, max, step }: Extract<InputSpec, { kind: "number" }>): AppControl {
  const range = { ...(min !== undefined && { min }), ...(max !== undefined && { max }) };
  if (integer && isSeedName(name)) return { kind: "seed", ...range };
  return { kind: "number", isWhole: integer, isSlider: false, ...range, ...(step !== undefined && step > 0 && { step }) };
}

function createChoiceControl(spec: Extract<InputSpec, { kind: "choice" }>, value: unknown): AppControl {
  if (spec.image) return { kind: "picture", hasMask: false };
  if (spec.media) return { kind: spec.media };
  const options = spec.options.filter((option) => typeof option !== "string" || option.length <= 1000).slice(0, MAX_CHOICES);
  if (options.length === 0 || (spec.isOpen && !options.some((option) => option === value))) return { kind: "text", isLong: false };
  return { kind: "choice", choices: options.map((option) => ({ value: option })) };
}

function guessControl({ input, classType, value }: InputContext): AppControl | undefined {
  const kind = guessKind(classType, input, value);
  switch (kind) {
    case "picture":
      return { kind, hasMask: false };
    case "whole":
    case "number": {
      const isSeed = isSeedName(input) && (kind === "whole" || Number.isInteger(value));
      return isSeed ? { kind: "seed" } : { kind: "number", isWhole: kind === "whole", isSlider: false };
    }
    case "long-text":
    case "text":
      return { kind: "text", isLong: kind === "long-text" };
    default:
      return kind && { kind };
  }
}

/** "noise_seed" becomes "Noise seed". For a generic name, the node's custom title is used instead. */
function createLabel(input: string, title: string | undefined): string {
  const spacedName = toPlainLine(input)
    .replace(/[_.\s]+/g, " ")
    .trim();
  const isGeneric = /^(text|value|string|image|seed|noise seed|number|int|float|video|audio)$/i.test(spacedName);
  const customTitle = toPlainLine(title ?? "").trim();
  const label = (isGeneric && customTitle ? customTitle : spacedName) || "Value";
  return (label.charAt(0).toUpperCase() + label.slice(1)).slice(0, 80).trim();
}

function createUnusedName(input: string, usedInputs: readonly Pick<AppInput, "name">[]): string {
  const plainName = input
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "_")
    .replace(/^[^a-z]+|_+$/g, "")
    .slice(0, 34)
    .replace(/_+$/, "");
  const base = plainName || "value";
  const usedNames = new Set(usedInputs.map(({ name }) => name));
  for (let suffix = 1; ; suffix += 1) {
    const name = suffix === 1 ? base : `${base}_${suffix}`;
    if (!usedNames.has(name)) return name;
  }
}
