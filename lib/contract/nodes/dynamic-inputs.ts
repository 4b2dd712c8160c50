// The inputs of a node with its current values. A choice adds its own inputs, and a list grows.

import { copySpellings } from "../json/exact-json";
import { getOwn } from "../json/json";
import { anyText, anything, list, map, number, object, type ReaderOutput } from "../json/readers";
import { type Graph } from "../schemas/graph";
import { type NodeInfo, type ObjectInfo } from "../schemas/object-info";
import { getSettings, readInputSpec } from "./input-spec";

export type ClassInput = { name: string; raw: unknown; isRequired: boolean };
type Values = Readonly<Record<string, unknown>>;
const readGroups = object({}, { required: map(anything), optional: map(anything) });
type Groups = ReaderOutput<typeof readGroups>;
const readTemplate = object({}, { input: readGroups, prefix: anything, names: list(anyText), min: number, max: number });
const readOption = object({ key: anyText }, { inputs: readGroups });

const MAX_DEPTH = 4;
const MAX_GROWN_INPUTS = 100;

/** Includes inputs without a value: required ones, and the next input of a growing list that a form can fill. */
export function listInputs(info: NodeInfo | undefined, values: Values): ClassInput[] {
  return expandInputs(listDeclaredInputs(info), values, 0);
}

/** The declared inputs in the class's order. Inputs without an order are last. A choice and a list are one input each. */
export function listDeclaredInputs(info: NodeInfo | undefined): ClassInput[] {
  const [required, optional] = [info?.input?.required ?? {}, info?.input?.optional ?? {}];
  const declaredOrder = (["required", "optional"] as const).flatMap((group) => list(anyText)(info?.input_order?.[group]) ?? []);
  return [...new Set([...declaredOrder, ...Object.keys(required), ...Object.keys(optional)])].flatMap((name) => {
    const isRequired = Object.hasOwn(required, name);
    if (!isRequired && !Object.hasOwn(optional, name)) return [];
    return [{ name, raw: isRequired ? required[name] : optional[name], isRequired }];
  });
}

/** The inputs that the choice `key` adds. Null means the first choice, and undefined the default. */
export function getChoiceInputs(input: ClassInput, key: unknown): ClassInput[] {
  const options = getOptions(input.raw);
  const defaultKey = key === undefined ? getSettings(input.raw).default : undefined;
  const selectedKey = key ?? defaultKey ?? options[0]?.key;
  const selectedOption = options.find((option) => option.key === selectedKey);
  return selectedOption?.inputs ? toClassInputs(selectedOption.inputs, `${input.name}.`) : [];
}

export function isDynamic(info: NodeInfo | undefined): boolean {
  const specs = Object.values({ ...info?.input?.optional, ...info?.input?.required });
  return specs.some((raw) => isDynamicCombo(raw) || isGrowing(raw));
}

/** Returns the graph after a choice. Removes the inputs of other choices, and gives those of the new choice valid values. */
export function selectChoice(
  graph: Graph,
  nodeId: string,
  choice: { name: string; value: unknown },
  catalogue?: ObjectInfo,
): Graph | undefined {
  const node = getOwn(graph, nodeId);
  const info = node && getOwn(catalogue, node.class_type);
  const comboInput = node ? listInputs(info, node.inputs).find(({ name }) => name === choice.name) : undefined;
  if (!node || !comboInput || !isDynamicCombo(comboInput.raw)) return undefined;
  const newInputs = { ...node.inputs, [choice.name]: choice.value };
  const prefix = `${choice.name}.`;
  const nestedInputs = listInputs(info, newInputs).filter(({ name }) => name.startsWith(prefix));
  const addedEntries = nestedInputs.flatMap(({ name, raw, isRequired }) => {
    const value = getOwn(node.inputs, name) ?? (isRequired ? getFallback(raw) : undefined);
    return value === undefined ? [] : [[name, value] as const];
  });
  const entries = Object.entries(newInputs).flatMap(([name, value]) =>
    name === choice.name ? [[name, value] as const, ...addedEntries] : name.startsWith(prefix) ? [] : [[name, value] as const],
  );
  return { ...graph, [nodeId]: { ...node, inputs: copySpellings(node.inputs, Object.fromEntries(entries)) } };
}

function toClassInputs({ required = {}, optional = {} }: Groups, prefix: string): ClassInput[] {
  return [
    ...Object.entries(required).map(([name, raw]) => ({ name: prefix + name, raw, isRequired: true })),
    ...Object.entries(optional).map(([name, raw]) => ({ name: prefix + name, raw, isRequired: false })),
  ];
}

function expandInputs(classInputs: readonly ClassInput[], values: Values, depth: number): ClassInput[] {
  return classInputs.flatMap((input) => {
    if (depth < MAX_DEPTH && isDynamicCombo(input.raw))
      return [input, ...expandInputs(getChoiceInputs(input, getOwn(values, input.name)), values, depth + 1)];
    return isGrowing(input.raw) ? expandGrowingInput(input, values) : [input];
  });
}

function expandGrowingInput({ name, raw, isRequired }: ClassInput, values: Values): ClassInput[] {
  const { input, prefix, names, min = 0, max = MAX_GROWN_INPUTS } = readTemplate(getSettings(raw).template) ?? {};
  const [itemSpec] = [...Object.values(input?.required ?? {}), ...Object.values(input?.optional ?? {})];
  const maxSlots = Math.min(MAX_GROWN_INPUTS, max);
  const slotNames = names ?? Array.from({ length: maxSlots }, (_, index) => `${String(prefix ?? "")}${index}`);
  const minCount = isRequired ? min : 0;
  const slots = slotNames.map((slotName, index) => ({ name: `${name}.${slotName}`, raw: itemSpec, isRequired: index < minCount }));
  const presentSlots = slots.filter((slot) => Object.hasOwn(values, slot.name) || slot.isRequired);
  const nextSlot = readInputSpec("", itemSpec).kind === "connection" ? undefined : slots.find((slot) => !presentSlots.includes(slot));
  return nextSlot ? [...presentSlots, nextSlot] : presentSlots;
}

export function getFallback(raw: unknown): unknown {
  const spec = readInputSpec("", raw);
  if (spec.kind === "connection" || spec.kind === "box") return undefined;
  return spec.fallback ?? { number: 0, text: "", boolean: false, choice: undefined, "hex-color": "#ffffff" }[spec.kind];
}

function getOptions(raw: unknown): readonly ReaderOutput<typeof readOption>[] {
  return getSettings(raw).options?.flatMap((value) => readOption(value) ?? []) ?? [];
}

export function isDynamicCombo(raw: unknown): boolean {
  return Array.isArray(raw) && raw[0] === "COMFY_DYNAMICCOMBO_V3";
}

export function isGrowing(raw: unknown): boolean {
  return Array.isArray(raw) && raw[0] === "COMFY_AUTOGROW_V3";
}
