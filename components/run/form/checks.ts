// Checks the values before submitting: masked values, missing outputs, values that the catalogue excludes. Structural problems are reported
// when the workflow is opened (graph-errors.ts). `isSure` is false if the problem may only come from an outdated catalogue.

import { getOwn, isObject } from "@/lib/contract/json/json";
import { listInputs } from "@/lib/contract/nodes/dynamic-inputs";
import { boxEdges, BUILT_IN_MODULE, findNearestOption, readInputSpec } from "@/lib/contract/nodes/input-spec";
import { type NodeError, type NodeErrors } from "@/lib/contract/schemas/execution";
import { type Graph, type GraphNode } from "@/lib/contract/schemas/graph";
import { type ObjectInfo } from "@/lib/contract/schemas/object-info";
import { isMasked } from "@/lib/contract/secrets/secret-texts";
import { isLink } from "@/lib/contract/workflow/graph";
import { mergeErrors } from "../workflow/graph-errors";
import { isWarning, NOT_WHOLE } from "./problems";

type CheckCode = "masked_value" | typeof NOT_WHOLE | "prompt_no_outputs" | "prompt_outputs_failed_validation";
export type CheckResult = { code: CheckCode; errors: NodeErrors; isSure: boolean };

export function checkGraph(graph: Graph, catalogue: ObjectInfo | undefined): CheckResult | undefined {
  const maskedErrors = collectErrors(graph, (node) =>
    Object.entries(node.inputs).flatMap(([name, value]) => (isMasked(value) ? [createError("masked_value", { input_name: name })] : [])),
  );
  if (maskedErrors) return { code: "masked_value", errors: maskedErrors, isSure: true };
  if (!catalogue) return undefined;
  const outputs = findOutputNodes(graph, catalogue);
  if (outputs.length === 0) return { code: "prompt_no_outputs", errors: {}, isSure: false };
  const catalogueErrors = mergeErrors(createValueChecker(graph, outputs, catalogue)(graph), findMissingInputs(graph, outputs, catalogue));
  const errors = omitWarnings(catalogueErrors);
  if (Object.keys(errors).length === 0) return undefined;
  // A class may validate its inputs itself, so the service decides. A fraction is certain, since the service would silently truncate it.
  const isSure = Object.values(errors).some((node) => node.errors.some(({ type }) => type === NOT_WHOLE));
  return { code: isSure ? NOT_WHOLE : "prompt_outputs_failed_validation", errors, isSure };
}

/** Returns the ids of the output nodes. Without a catalogue, these are the nodes that feed no other node. */
export function findOutputNodes(graph: Graph, catalogue: ObjectInfo | undefined): string[] {
  const ids = Object.keys(graph);
  if (catalogue) return ids.filter((id) => getOwn(catalogue, graph[id]?.class_type ?? "")?.output_node === true);
  const sourceIds = new Set(
    ids.flatMap((id) => Object.values(graph[id]?.inputs ?? {}).flatMap((value) => (Array.isArray(value) ? [String(value[0])] : []))),
  );
  return ids.filter((id) => !sourceIds.has(id));
}

function omitWarnings(catalogueErrors: NodeErrors): NodeErrors {
  const entries = Object.entries(catalogueErrors).map(([id, node]) => {
    const errors = node.errors.filter(({ extra_info }) => !isWarning({ extra: extra_info }));
    return [id, { ...node, errors }] as const;
  });
  return Object.fromEntries(entries.filter(([, { errors }]) => errors.length > 0));
}

function collectErrors(graph: Graph, findErrors: (node: Graph[string]) => NodeError[]): NodeErrors | undefined {
  const nodeErrors = Object.entries(graph).flatMap(([id, node]) => {
    const errors = findErrors(node);
    return errors.length === 0
      ? []
      : [[id, { class_type: node.class_type, dependent_outputs: [], errors }] satisfies [string, NodeErrors[string]]];
  });
  return nodeErrors.length === 0 ? undefined : Object.fromEntries(nodeErrors);
}

function createError(type: CheckCode, extra_info: Record<string, unknown>): NodeError {
  return { type, message: "", details: "", extra_info };
}

// Checks the values of a run against the service's catalogue: numbers out of range, text in place of a number, missing inputs.
// Guarantees: checks only nodes that an output needs and whose class is in the catalogue. Limits are inclusive, and whole numbers are compared
// exactly. An unchanged node is checked once. A value outside a list or range is an error only for built-in classes. Linked values and unknown
// kinds of input are not checked.

/** Links can't be edited, so the set of needed nodes is computed once. */
export function createValueChecker(originalGraph: Graph, outputs: readonly string[], catalogue: ObjectInfo): (graph: Graph) => NodeErrors {
  const neededIds = findNeededNodes(originalGraph, outputs);
  const checkedNodes = new WeakMap<GraphNode, NodeError[]>();
  return (graph) =>
    collectNeededErrors(graph, neededIds, (node) => {
      const errors = checkedNodes.get(node) ?? checkValues(node, catalogue);
      checkedNodes.set(node, errors);
      return errors;
    });
}

export function findMissingInputs(graph: Graph, outputs: readonly string[], catalogue: ObjectInfo): NodeErrors {
  return collectNeededErrors(graph, findNeededNodes(graph, outputs), (node) =>
    listInputs(getOwn(catalogue, node.class_type), node.inputs).flatMap(({ name, raw, isRequired }) =>
      !isRequired || Object.hasOwn(node.inputs, name) || hasDynamicNames(raw)
        ? []
        : [createValueError("required_input_missing", { input_name: name })],
    ),
  );
}

const checkedTypes = new Set(["COMFY_DYNAMICCOMBO_V3", "COMFY_MATCHTYPE_V3"]);

/** A catalogue entry that represents any number of inputs with names of their own. */
function hasDynamicNames(raw: unknown): boolean {
  const type: unknown = Array.isArray(raw) ? raw[0] : undefined;
  return typeof type === "string" && type.startsWith("COMFY_") && !checkedTypes.has(type);
}

function checkValues({ class_type, inputs }: GraphNode, catalogue: ObjectInfo): NodeError[] {
  const info = getOwn(catalogue, class_type);
  return listInputs(info, inputs).flatMap(({ name, raw }) => {
    const value = getOwn(inputs, name);
    if (!Object.hasOwn(inputs, name) || isLink(value) || isMasked(value)) return [];
    const errors = [
      ...checkNumber(name, value, raw),
      ...checkChoice(name, value, raw),
      ...checkBox(name, value, raw),
      ...checkColor(name, value, raw),
    ];
    return info?.python_module === BUILT_IN_MODULE ? errors : errors.map(toWarning);
  });
}

const listAndRangeErrors = new Set(["value_not_in_list", "value_smaller_than_min", "value_bigger_than_max"]);

function toWarning(error: NodeError): NodeError {
  return listAndRangeErrors.has(error.type) ? { ...error, extra_info: { ...error.extra_info, isWarning: true } } : error;
}

/** An empty value counts as not set. */
function checkChoice(name: string, value: unknown, raw: unknown): NodeError[] {
  const spec = readInputSpec(name, raw);
  if (spec.kind !== "choice" || spec.isOpen || typeof value === "object" || value === undefined) return [];
  if (spec.options.some((option) => option === value)) return [];
  return [
    createValueError("value_not_in_list", { input_name: name, received_value: value, nearest: findNearestOption(value, spec.options) }),
  ];
}

function checkNumber(name: string, value: unknown, raw: unknown): NodeError[] {
  const spec = readInputSpec(name, raw);
  if (spec.kind !== "number") return [];
  const extraInfo = { input_name: name, input_config: raw, received_value: value };
  if (typeof value === "string") return isNumeric(value, spec.integer) ? [] : [createValueError("invalid_input_type", extraInfo)];
  if (typeof value !== "number" && typeof value !== "bigint") return [];
  // The service would truncate the fraction and use another number than the one shown.
  if (spec.integer && typeof value === "number" && !Number.isInteger(value)) return [createValueError(NOT_WHOLE, extraInfo)];
  if (spec.min !== undefined && value < spec.min) return [createValueError("value_smaller_than_min", extraInfo)];
  return spec.max !== undefined && value > spec.max ? [createValueError("value_bigger_than_max", extraInfo)] : [];
}

/** All four fields are required, in whole pixels. */
function checkBox(name: string, value: unknown, raw: unknown): NodeError[] {
  if (readInputSpec(name, raw).kind !== "box" || !isObject(value)) return [];
  return boxEdges.flatMap((edge) => {
    const edgeValue = value[edge];
    const extraInfo = { input_name: name, edge, received_value: edgeValue ?? "" };
    if (typeof edgeValue === "number") return Number.isInteger(edgeValue) ? [] : [createValueError(NOT_WHOLE, extraInfo)];
    return typeof edgeValue === "bigint" || isLink(edgeValue) ? [] : [createValueError("invalid_input_type", extraInfo)];
  });
}

function checkColor(name: string, value: unknown, raw: unknown): NodeError[] {
  if (readInputSpec(name, raw).kind !== "hex-color" || typeof value !== "string") return [];
  return /^#?(?:[0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})$/i.test(value)
    ? []
    : [createValueError("invalid_input_type", { input_name: name, received_value: value })];
}

/** Services also parse numbers from text, in any script and with underscores between digits. */
function isNumeric(text: string, mustBeInteger: boolean): boolean {
  const digits = text.trim().replaceAll("_", "");
  if (mustBeInteger) return /^[+-]?\p{Nd}+$/u.test(digits);
  if (/^[+-]?(inf|infinity|nan)$/i.test(digits)) return true;
  return /^[+-]?(\p{Nd}+(\.\p{Nd}*)?|\.\p{Nd}+)(e[+-]?\p{Nd}+)?$/iu.test(digits);
}

function findNeededNodes(graph: Graph, outputs: readonly string[]): Set<string> {
  const neededIds = new Set<string>();
  const pendingIds = [...outputs];
  for (let id = pendingIds.pop(); id !== undefined; id = pendingIds.pop()) {
    if (neededIds.has(id)) continue;
    neededIds.add(id);
    for (const value of Object.values(getOwn(graph, id)?.inputs ?? {})) if (isLink(value)) pendingIds.push(value[0]);
  }
  return neededIds;
}

function collectNeededErrors(graph: Graph, neededIds: ReadonlySet<string>, findErrors: (node: GraphNode) => NodeError[]): NodeErrors {
  return Object.fromEntries(
    [...neededIds].flatMap((id) => {
      const node = getOwn(graph, id);
      const errors = node ? findErrors(node) : [];
      return node && errors.length > 0 ? [[id, { class_type: node.class_type, dependent_outputs: [], errors }]] : [];
    }),
  );
}

function createValueError(type: string, extra_info: Record<string, unknown>): NodeError {
  return { type, message: "", details: "", extra_info };
}
