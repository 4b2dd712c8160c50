// Parses a text as a graph, which may be inside the wrappers that programs use. Editor files are returned unchanged.

import { copySpellings } from "../json/exact-json";
import { asObject, getOwn, isObject, type JsonObject } from "../json/json";
import { findDuplicateKeys, findJsonError, getLineAndColumn } from "../json/json-text";
import { parseLenient, parseLenientJson, replaceNaN, TooManyExactNumbersError } from "../json/parse-json";
import { type Graph } from "../schemas/graph";
import { getNameInExtraData } from "./workflow-name";

export const workflowLimits = { characters: 5_000_000, nodes: 5000, depth: 100 } as const;

/** Codes and values only, because the messages are translated. */
export type WorkflowProblem =
  | { code: "empty" }
  | { code: "no_nodes" }
  | { code: "too_large"; limit: keyof typeof workflowLimits; max: number; found: number }
  | { code: "too_many_numbers"; max: number }
  | { code: "not_json"; line: number; column: number }
  | { code: "ui_format"; file: JsonObject }
  | { code: "no_graph"; found: "list" | "text" | "number" | "boolean" | "null" | "object" }
  | { code: "node_without_class"; nodeId: string }
  | { code: "node_with_bad_inputs"; nodeId: string };

export type Workflow = { graph: Graph; title?: string; extraData?: JsonObject; duplicates?: readonly string[] };
export type WorkflowResult = { ok: true; value: Workflow } | { ok: false; failure: WorkflowProblem };

export function readWorkflow(text: string): WorkflowResult {
  const json = text.startsWith("\uFEFF") ? text.slice(1) : text;
  if (json.trim() === "") return reject({ code: "empty" });
  if (json.length > workflowLimits.characters) return rejectTooLarge("characters", json.length);
  let parsed: unknown;
  try {
    parsed = parseLenient(json);
  } catch (error) {
    if (error instanceof TooManyExactNumbersError) return reject({ code: "too_many_numbers", max: error.maxNumbers });
    // Replacements of the same length preserve error positions.
    return reject({ code: "not_json", ...getLineAndColumn(json, findJsonError(replaceNaN(json, "0"))) });
  }
  return parseValue(parsed, json);
}

/** The submitted graph of a job's `workflow` or of a parsed file. Undefined if it has none. */
export function unwrapWorkflow(workflow: unknown): { graph: Graph; extraData?: JsonObject } | undefined {
  const result = parseValue(workflow);
  return result.ok ? { graph: result.value.graph, extraData: result.value.extraData } : undefined;
}

function parseValue(parsed: unknown, text?: string): WorkflowResult {
  const depth = getDepth(parsed, workflowLimits.depth);
  if (depth > workflowLimits.depth) return rejectTooLarge("depth", depth);
  const locatedGraph = locateGraph(parsed, { path: [], text });
  if (!locatedGraph)
    return reject(isObject(parsed) && isBlank(parsed) ? { code: "no_nodes" } : { code: "no_graph", found: getTypeName(parsed) });
  const problem = findProblem(locatedGraph.graph);
  if (problem) return reject(problem);
  const extraData = removePartnerKeys(locatedGraph.extraData);
  const title = extraData && getNameInExtraData(extraData);
  const duplicates = locatedGraph.text === undefined ? [] : findDuplicateKeys(locatedGraph.text, locatedGraph.path);
  return {
    ok: true,
    value: {
      graph: toGraph(locatedGraph.graph),
      ...(title !== undefined && { title }),
      ...(extraData && { extraData }),
      ...(duplicates.length > 0 && { duplicates }),
    },
  };
}

type JsonLocation = { text: string | undefined; path: readonly string[] };
type LocatedGraph = JsonLocation & { graph: JsonObject; extraData?: unknown };

/** Keys of wrappers: a queued prompt, the editor's own result, a request to a hosted worker, and a job's details. */
const wrapperKeys = ["prompt", "output", "workflow", "input", "data"] as const;
const MAX_WRAPPER_DEPTH = 4;

/** Finds the graph or editor file in a value: the value itself, or inside objects, one-element lists and JSON texts. */
function locateGraph(value: unknown, location: JsonLocation): LocatedGraph | undefined {
  if (location.path.length > MAX_WRAPPER_DEPTH) return undefined;
  if (typeof value === "string") {
    const parsed = /^\s*\{/.test(value) ? parseLenientJson(value) : undefined;
    return isObject(parsed) && getDepth(parsed, workflowLimits.depth) <= workflowLimits.depth
      ? locateGraph(parsed, { text: value, path: [] })
      : undefined;
  }
  if (Array.isArray(value)) return value.length === 1 ? locateGraph(value[0], { ...location, path: [...location.path, "0"] }) : undefined;
  if (!isObject(value)) return undefined;
  if (Array.isArray(value.nodes) || Object.values(value).some(hasClass)) return { ...location, graph: value };
  for (const key of wrapperKeys) {
    const innerGraph = locateGraph(getOwn(value, key), { ...location, path: [...location.path, key] });
    if (!innerGraph) continue;
    const editorFile = key === "workflow" ? undefined : locateGraph(getOwn(value, "workflow"), location)?.graph;
    const editorExtraData = Array.isArray(editorFile?.nodes) &&
      !Array.isArray(innerGraph.graph.nodes) && { extra_pnginfo: { workflow: editorFile } };
    return { ...innerGraph, extraData: innerGraph.extraData ?? value.extra_data ?? (editorExtraData || undefined) };
  }
  return undefined;
}

function isBlank(value: JsonObject): boolean {
  const entries = Object.entries(value);
  return entries.every(([key, item]) => wrapperKeys.some((name) => name === key) && isObject(item) && isBlank(item));
}

function findProblem(candidate: JsonObject): WorkflowProblem | undefined {
  if (Array.isArray(candidate.nodes)) return candidate.nodes.length === 0 ? { code: "no_nodes" } : { code: "ui_format", file: candidate };
  const entries = Object.entries(candidate);
  if (entries.length > workflowLimits.nodes) {
    return { code: "too_large", limit: "nodes", max: workflowLimits.nodes, found: entries.length };
  }
  const nodeWithoutClass = entries.find(([, node]) => !hasClass(node));
  if (nodeWithoutClass) return { code: "node_without_class", nodeId: nodeWithoutClass[0] };
  const nodeWithBadInputs = entries.find(([, node]) => isObject(node) && node.inputs !== undefined && !isObject(node.inputs));
  return nodeWithBadInputs && { code: "node_with_bad_inputs", nodeId: nodeWithBadInputs[0] };
}

function hasClass(node: unknown): node is JsonObject & { class_type: string } {
  return isObject(node) && typeof node.class_type === "string" && node.class_type !== "";
}

function toGraph(candidate: JsonObject): Graph {
  const nodes = Object.entries(candidate).flatMap(([id, node]) => {
    if (!hasClass(node)) return [];
    const { _meta, ...rest } = node;
    const metadata = asObject(_meta);
    const title = typeof metadata?.title === "string" ? metadata.title : undefined;
    const meta = metadata && copySpellings(metadata, { ...metadata, title });
    return [[id, { ...rest, class_type: node.class_type, inputs: asObject(node.inputs) ?? {}, ...(meta && { _meta: meta }) }] as const];
  });
  return Object.fromEntries(nodes);
}

/** Removes keys, because each submitter adds their own. A redacted key would break the run. */
function removePartnerKeys(extraData: unknown): JsonObject | undefined {
  if (!isObject(extraData)) return undefined;
  const { api_key_comfy_org: _apiKey, auth_token_comfy_org: _token, ...rest } = extraData;
  return copySpellings(extraData, rest);
}

/** Counts levels of lists and objects. Stops one level beyond `maxDepth`, so that hostile files cost no more than normal ones. */
function getDepth(value: unknown, maxDepth: number): number {
  let level: unknown[] = [value];
  for (let depth = 0; ; depth++) {
    const containers = level.filter((item) => typeof item === "object" && item !== null);
    if (containers.length === 0 || depth > maxDepth) return depth;
    level = containers.flatMap((item) => Object.values(item));
  }
}

function getTypeName(value: unknown): "list" | "text" | "number" | "boolean" | "null" | "object" {
  if (Array.isArray(value)) return "list";
  if (value === null || value === undefined) return "null";
  if (typeof value === "string") return "text";
  return typeof value === "number" || typeof value === "bigint" ? "number" : typeof value === "boolean" ? "boolean" : "object";
}

function rejectTooLarge(limit: keyof typeof workflowLimits, found: number): WorkflowResult {
  return reject({ code: "too_large", limit, max: workflowLimits[limit], found });
}

function reject(failure: WorkflowProblem): WorkflowResult {
  return { ok: false, failure };
}
