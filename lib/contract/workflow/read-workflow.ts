// Reads a text that was dropped, pasted or stored (a bare API graph, a job's { prompt, extra_data }, job details { workflow: … }) into a
// graph to submit or a problem to explain. The editor's own format is handed back: it needs the service's list of nodes (editor-workflow/).
// Guarantees: never throws; bounded in characters, depth and nodes. Free of zod: browsers load it with the first page.
// Must never: pass on a partner key (another person's, or a redacted one).

import { isObject, type JsonObject, objectOf, parseJson } from "../json/json";
import { findJsonError, lineAndColumn } from "../json/json-position";
import { type Graph } from "../schemas/graph";
import { nameInExtraData } from "./workflow-name";

export const workflowLimits = { characters: 5_000_000, nodes: 5000, depth: 100 } as const;

/** Facts only: sentences belong to the message catalogue. */
export type WorkflowProblem =
  | { code: "empty" }
  | { code: "too_large"; limit: keyof typeof workflowLimits; most: number; found: number }
  | { code: "not_json"; line: number; column: number }
  | { code: "ui_format"; file: JsonObject }
  | { code: "no_graph"; found: "list" | "text" | "number" | "boolean" | "null" | "object" }
  | { code: "node_without_class"; nodeId: string }
  | { code: "node_with_bad_inputs"; nodeId: string };

export type Workflow = { graph: Graph; title?: string; extraData?: JsonObject };
export type WorkflowReading = { ok: true; value: Workflow } | { ok: false; failure: WorkflowProblem };

export function readWorkflow(text: string): WorkflowReading {
  const json = text.startsWith("\uFEFF") ? text.slice(1) : text;
  if (json.trim() === "") return refuse({ code: "empty" });
  if (json.length > workflowLimits.characters) return tooLarge("characters", json.length);
  const parsed = parseJson(json);
  if (parsed === undefined) return refuse({ code: "not_json", ...lineAndColumn(json, findJsonError(json)) });
  return readParsed(parsed);
}

/** The submitted graph, from a job's `workflow` (or an already parsed file); undefined if it holds none. */
export function unwrapWorkflow(workflow: unknown): { graph: Graph; extraData?: JsonObject } | undefined {
  const reading = readParsed(workflow);
  return reading.ok ? { graph: reading.value.graph, extraData: reading.value.extraData } : undefined;
}

function readParsed(parsed: unknown): WorkflowReading {
  if (!isObject(parsed)) return refuse({ code: "no_graph", found: nameOfType(parsed) });
  const depth = depthOf(parsed, workflowLimits.depth);
  if (depth > workflowLimits.depth) return tooLarge("depth", depth);
  const outer = isWrapper(parsed.workflow) ? parsed.workflow : parsed;
  const candidate = isWrapper(outer) ? outer.prompt : outer;
  const problem = problemOf(candidate);
  if (problem) return refuse(problem);
  const extraData = isWrapper(outer) ? withoutPartnerKeys(outer.extra_data) : undefined;
  const title = extraData && nameInExtraData(extraData);
  return { ok: true, value: { graph: toGraph(candidate), ...(title !== undefined && { title }), ...(extraData && { extraData }) } };
}

/** { prompt: {…}, … }, unless `prompt` is itself a node of a bare graph. */
function isWrapper(value: unknown): value is JsonObject & { prompt: JsonObject } {
  return isObject(value) && isObject(value.prompt) && typeof value.prompt.class_type !== "string" && typeof value.class_type !== "string";
}

function problemOf(candidate: JsonObject): WorkflowProblem | undefined {
  if (Array.isArray(candidate.nodes)) return { code: "ui_format", file: candidate };
  const entries = Object.entries(candidate);
  if (entries.length === 0) return { code: "empty" };
  if (!entries.some(([, node]) => hasClass(node))) return { code: "no_graph", found: "object" };
  if (entries.length > workflowLimits.nodes) {
    return { code: "too_large", limit: "nodes", most: workflowLimits.nodes, found: entries.length };
  }
  const classless = entries.find(([, node]) => !hasClass(node));
  if (classless) return { code: "node_without_class", nodeId: classless[0] };
  const inputless = entries.find(([, node]) => isObject(node) && node.inputs !== undefined && !isObject(node.inputs));
  return inputless && { code: "node_with_bad_inputs", nodeId: inputless[0] };
}

function hasClass(node: unknown): node is JsonObject & { class_type: string } {
  return isObject(node) && typeof node.class_type === "string" && node.class_type !== "";
}

function toGraph(candidate: JsonObject): Graph {
  const nodes = Object.entries(candidate).flatMap(([id, node]) => {
    if (!hasClass(node)) return [];
    const { _meta, ...rest } = node;
    const title = objectOf(_meta)?.title;
    const meta = objectOf(_meta) && { ...objectOf(_meta), title: typeof title === "string" ? title : undefined };
    return [[id, { ...rest, class_type: node.class_type, inputs: objectOf(node.inputs) ?? {}, ...(meta && { _meta: meta }) }] as const];
  });
  return Object.fromEntries(nodes);
}

/** A redacted key would break the next run, and a real one belongs to a person: each person who submits brings their own. */
function withoutPartnerKeys(extraData: unknown): JsonObject | undefined {
  if (!isObject(extraData)) return undefined;
  const { api_key_comfy_org: _apiKey, auth_token_comfy_org: _token, ...rest } = extraData;
  return rest;
}

/** Counts levels of lists and objects; stops one beyond `most`, so a hostile file costs no more than an honest one. */
function depthOf(value: unknown, most: number): number {
  let level: unknown[] = [value];
  for (let depth = 0; ; depth++) {
    const containers = level.filter((item) => typeof item === "object" && item !== null);
    if (containers.length === 0 || depth > most) return depth;
    level = containers.flatMap((item) => Object.values(item));
  }
}

function nameOfType(value: unknown): "list" | "text" | "number" | "boolean" | "null" | "object" {
  if (Array.isArray(value)) return "list";
  if (value === null || value === undefined) return "null";
  if (typeof value === "string") return "text";
  return typeof value === "number" || typeof value === "bigint" ? "number" : typeof value === "boolean" ? "boolean" : "object";
}

function tooLarge(limit: keyof typeof workflowLimits, found: number): WorkflowReading {
  return refuse({ code: "too_large", limit, most: workflowLimits[limit], found });
}

function refuse(failure: WorkflowProblem): WorkflowReading {
  return { ok: false, failure };
}
