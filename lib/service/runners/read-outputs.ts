import { parseStatus } from "@/lib/comfyui/client";
import { copySpellings, writeExactJson } from "@/lib/contract/json/exact-json";
import { asObject, asText, getOwn, isObject, type JsonObject } from "@/lib/contract/json/json";
import { type ExecutionError, executionErrorSchema } from "@/lib/contract/schemas/execution";
import { type Graph } from "@/lib/contract/schemas/graph";
import { type OutputFile } from "@/lib/contract/views/outputs-view";
import { type OtherOutputs } from "../nodes/run";

export type Ending = { kind: "success" } | { kind: "interrupted" } | { kind: "error"; error: ExecutionError };
export type NodeFile = OutputFile & { nodeId: string; key: string; index: number; facts: Record<string, unknown> };
export type NodeOutputs = { files: NodeFile[]; texts?: string[]; otherValues?: OtherOutputs };

const MAX_FILES = 10_000;
const MAX_NAME_LENGTH = 1000;
const MAX_MESSAGE_LENGTH = 10_000;
const MAX_TRACEBACK_LENGTH = 64 * 1024;
const MAX_INPUTS_LENGTH = 256 * 1024;
/** Applies to all texts of a job together. Excess texts are dropped. */
const MAX_TEXT_LENGTH = 4 * 1024 ** 2;

export function readEnding(entry: unknown): Ending | undefined {
  const { status, outputs } = asObject(entry) ?? {};
  if (!isObject(outputs)) return undefined;
  const { statusText, error, isInterrupted } = parseStatus(status);
  if (error) return { kind: "error", error: limitErrorSize(executionErrorSchema.parse(error)) };
  if (isInterrupted) return { kind: "interrupted" };
  return statusText === "success" ? { kind: "success" } : undefined;
}

function limitErrorSize(error: ExecutionError): ExecutionError {
  const { node_id, node_type, exception_type, exception_message, traceback, current_inputs, current_outputs } = error;
  let remainingLength = MAX_TRACEBACK_LENGTH;
  return {
    node_id: node_id && shorten(node_id, MAX_NAME_LENGTH),
    node_type: node_type && shorten(node_type, MAX_NAME_LENGTH),
    exception_type: shorten(exception_type, MAX_NAME_LENGTH),
    exception_message: shorten(exception_message, MAX_MESSAGE_LENGTH),
    // The last lines contain the location of the error.
    traceback: traceback
      .map((line) => shorten(line, MAX_MESSAGE_LENGTH))
      .reverse()
      .filter((line) => (remainingLength -= line.length + 1) > 0)
      .reverse(),
    current_inputs: writeExactJson(current_inputs).length > MAX_INPUTS_LENGTH ? {} : current_inputs,
    current_outputs: writeExactJson(current_outputs).length > MAX_INPUTS_LENGTH ? {} : current_outputs,
  };
}

function shorten(text: string, maxLength: number): string {
  return text.length > maxLength ? `${text.slice(0, maxLength)}…` : text;
}

/** Groups outputs by graph node. Outputs of nodes that the runner added belong to the expanded node. Drops all others. */
export function groupOutputs(entry: unknown, graph: Graph): ReadonlyMap<string, JsonObject> {
  const outputsByNode = new Map<string, Map<string, unknown>>();
  const { meta, outputs } = asObject(entry) ?? {};
  for (const [id, output] of Object.entries(asObject(outputs) ?? {})) {
    const nodeId = Object.hasOwn(graph, id) ? id : asText(asObject(getOwn(asObject(meta), id))?.display_node);
    if (nodeId === undefined || !Object.hasOwn(graph, nodeId) || !isObject(output)) continue;
    const itemsByKey = outputsByNode.get(nodeId) ?? new Map<string, unknown>();
    outputsByNode.set(nodeId, itemsByKey);
    for (const [key, items] of Object.entries(output)) {
      const previousItems = itemsByKey.get(key);
      if (Array.isArray(previousItems) && Array.isArray(items)) for (const item of items) previousItems.push(item);
      else itemsByKey.set(key, Array.isArray(items) ? copySpellings(items, [...items]) : items);
    }
  }
  return new Map([...outputsByNode].map(([nodeId, itemsByKey]) => [nodeId, Object.fromEntries(itemsByKey)]));
}

/** Returns the outputs of each node that has any. The limits apply to all nodes together. */
export function readOutputs(outputsByNode: ReadonlyMap<string, JsonObject>): ReadonlyMap<string, NodeOutputs> {
  const outputsById = new Map<string, NodeOutputs>();
  let [fileCount, remainingLength] = [0, MAX_TEXT_LENGTH];
  for (const [nodeId, output] of outputsByNode) {
    const outputs: NodeOutputs = { files: [] };
    for (const [key, items] of Object.entries(output)) {
      if (!Array.isArray(items)) continue;
      const otherValues: unknown[] = [];
      const seenFiles = new Set<string>();
      for (const [index, item] of items.entries()) {
        const file = toFile(item);
        if (file) {
          const name = `${file.type} ${file.subfolder} ${file.filename}`;
          if (fileCount < MAX_FILES && !seenFiles.has(name)) {
            outputs.files.push({ ...file, nodeId, key, index });
            fileCount += 1;
          }
          seenFiles.add(name);
        } else if (item !== null) otherValues.push(item);
      }
      if (otherValues.length === 0) continue;
      if (otherValues.length === items.length) copySpellings(items, otherValues);
      remainingLength -= writeExactJson(otherValues).length;
      if (remainingLength < 0) continue;
      if (key === "text" && otherValues.every((value) => typeof value === "string")) outputs.texts = otherValues;
      else outputs.otherValues = { ...outputs.otherValues, [key]: otherValues };
    }
    if (outputs.files.length > 0 || outputs.texts || outputs.otherValues) outputsById.set(nodeId, outputs);
  }
  return outputsById;
}

function toFile(item: unknown): (OutputFile & { facts: Record<string, unknown> }) | undefined {
  if (!isObject(item)) return undefined;
  const filename = asText(item.filename);
  const type = asText(item.type) ?? "output";
  const subfolder = typeof item.subfolder === "string" ? item.subfolder : "";
  if (filename === undefined || filename.length + subfolder.length > MAX_NAME_LENGTH || !["output", "temp", "input"].includes(type))
    return undefined;
  const isFact = (value: unknown) => typeof value === "number" || (typeof value === "string" && value.length <= MAX_NAME_LENGTH);
  const facts = Object.fromEntries(["format", "frame_rate"].flatMap((name) => (isFact(item[name]) ? [[name, item[name]]] : [])));
  return { filename, subfolder, type, facts };
}
