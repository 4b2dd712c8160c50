// The inputs of a node with its present values: a choice brings inputs of its own, and a list grows.

import { withSpellingsOf } from "../json/exact-json";
import { own } from "../json/own";
import { anyText, anything, list, map, number, object, type ReadBy } from "../json/readers";
import { type Graph } from "../schemas/graph";
import { type NodeInfo, type ObjectInfo } from "../schemas/object-info";
import { readInputSpec, settingsOf } from "./input-spec";

export type ClassInput = { name: string; raw: unknown; isRequired: boolean };
type Values = Readonly<Record<string, unknown>>;
const groups = object({}, { required: map(anything), optional: map(anything) });
type Groups = ReadBy<typeof groups>;
const template = object({}, { input: groups, prefix: anything, names: list(anyText), min: number, max: number });
const option = object({ key: anyText }, { inputs: groups });

const MAX_DEPTH = 4;
const MAX_GROWN = 100;

/** Also lists inputs that have no value yet: required ones, and the next free place of a list that a form can fill. */
export function inputsOf(info: NodeInfo | undefined, values: Values): ClassInput[] {
  return inputsIn(orderedInputs(info), values, 0);
}

/** As declared: in the order that the class names, then the rest. A choice and a list are one input each. */
export function orderedInputs(info: NodeInfo | undefined): ClassInput[] {
  const [required, optional] = [info?.input?.required ?? {}, info?.input?.optional ?? {}];
  const declaredOrder = (["required", "optional"] as const).flatMap((group) => list(anyText)(info?.input_order?.[group]) ?? []);
  return [...new Set([...declaredOrder, ...Object.keys(required), ...Object.keys(optional)])].flatMap((name) => {
    const isRequired = Object.hasOwn(required, name);
    if (!isRequired && !Object.hasOwn(optional, name)) return [];
    return [{ name, raw: isRequired ? required[name] : optional[name], isRequired }];
  });
}

/** The inputs that a choice adds when `key` is chosen; null means the first choice, undefined the default. */
export function inputsOfChoice(input: ClassInput, key: unknown): ClassInput[] {
  const options = optionsOf(input.raw);
  const defaultKey = key === undefined ? settingsOf(input.raw).default : undefined;
  const selectedKey = key ?? defaultKey ?? options[0]?.key;
  const selectedOption = options.find((option) => option.key === selectedKey);
  return selectedOption?.inputs ? inputsOfGroups(selectedOption.inputs, `${input.name}.`) : [];
}

export function isDynamic(info: NodeInfo | undefined): boolean {
  const raws = Object.values({ ...info?.input?.optional, ...info?.input?.required });
  return raws.some((raw) => isDynamicCombo(raw) || isGrowing(raw));
}

/** The graph after a choice: inputs of the other choices are removed; those of this one come with values that the service would accept. */
export function withChoice(
  graph: Graph,
  nodeId: string,
  choice: { name: string; value: unknown },
  catalogue?: ObjectInfo,
): Graph | undefined {
  const node = own(graph, nodeId);
  const info = node && own(catalogue, node.class_type);
  const comboInput = node ? inputsOf(info, node.inputs).find(({ name }) => name === choice.name) : undefined;
  if (!node || !comboInput || !isDynamicCombo(comboInput.raw)) return undefined;
  const newInputs = { ...node.inputs, [choice.name]: choice.value };
  const below = `${choice.name}.`;
  const nestedInputs = inputsOf(info, newInputs).filter(({ name }) => name.startsWith(below));
  const added = nestedInputs.flatMap(({ name, raw, isRequired }) => {
    const value = own(node.inputs, name) ?? (isRequired ? fallbackOf(raw) : undefined);
    return value === undefined ? [] : [[name, value] as const];
  });
  const entries = Object.entries(newInputs).flatMap(([name, value]) =>
    name === choice.name ? [[name, value] as const, ...added] : name.startsWith(below) ? [] : [[name, value] as const],
  );
  return { ...graph, [nodeId]: { ...node, inputs: withSpellingsOf(node.inputs, Object.fromEntries(entries)) } };
}

function inputsOfGroups({ required = {}, optional = {} }: Groups, prefix: string): ClassInput[] {
  return [
    ...Object.entries(required).map(([name, raw]) => ({ name: prefix + name, raw, isRequired: true })),
    ...Object.entries(optional).map(([name, raw]) => ({ name: prefix + name, raw, isRequired: false })),
  ];
}

function inputsIn(classInputs: readonly ClassInput[], values: Values, depth: number): ClassInput[] {
  return classInputs.flatMap((input) => {
    if (depth < MAX_DEPTH && isDynamicCombo(input.raw))
      return [input, ...inputsIn(inputsOfChoice(input, own(values, input.name)), values, depth + 1)];
    return isGrowing(input.raw) ? growingInputs(input, values) : [input];
  });
}

function growingInputs({ name, raw, isRequired }: ClassInput, values: Values): ClassInput[] {
  const { input, prefix, names, min = 0, max = MAX_GROWN } = template(settingsOf(raw).template) ?? {};
  const [each] = [...Object.values(input?.required ?? {}), ...Object.values(input?.optional ?? {})];
  const maxSlots = Math.min(MAX_GROWN, max);
  const slotNames = names ?? Array.from({ length: maxSlots }, (_, at) => `${String(prefix ?? "")}${at}`);
  const least = isRequired ? min : 0;
  const slots = slotNames.map((slotName, at) => ({ name: `${name}.${slotName}`, raw: each, isRequired: at < least }));
  const present = slots.filter((slot) => Object.hasOwn(values, slot.name) || slot.isRequired);
  const next = readInputSpec("", each).kind === "connection" ? undefined : slots.find((slot) => !present.includes(slot));
  return next ? [...present, next] : present;
}

export function fallbackOf(raw: unknown): unknown {
  const spec = readInputSpec("", raw);
  if (spec.kind === "connection" || spec.kind === "box") return undefined;
  return spec.fallback ?? { number: 0, text: "", boolean: false, choice: undefined, "hex-color": "#ffffff" }[spec.kind];
}

function optionsOf(raw: unknown): readonly ReadBy<typeof option>[] {
  return settingsOf(raw).options?.flatMap((value) => option(value) ?? []) ?? [];
}

export function isDynamicCombo(raw: unknown): boolean {
  return Array.isArray(raw) && raw[0] === "COMFY_DYNAMICCOMBO_V3";
}

export function isGrowing(raw: unknown): boolean {
  return Array.isArray(raw) && raw[0] === "COMFY_AUTOGROW_V3";
}
