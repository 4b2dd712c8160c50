// The locations of secrets in a job, found by their masks. Doesn't import zod, to keep it out of the first page's scripts.

import { asObject, isObject, type JsonObject } from "../json/json";
import { anyText, list, object, oneOf } from "../json/readers";
import { getNodeName, isLink, readLooseGraph } from "../workflow/graph";
import { isMasked } from "./secret-texts";

/** `extra`: the path to the field of extra_data. `error` and `output`: the text of a node, which a new run cannot omit. */
export type SecretLocation =
  | { kind: "input"; node_id: string; node: string; input: string }
  | { kind: "extra"; path: readonly string[] }
  | { kind: "error" }
  | { kind: "output"; node_id: string };

const MAX_LOCATIONS = 50;
const MAX_DEPTH = 100;
const DRAWING_PATH = ["extra_pnginfo", "workflow"];

export function findWorkflowSecrets(workflow: unknown): SecretLocation[] {
  if (!isMasked(workflow)) return [];
  const secretLocations: SecretLocation[] = [];
  for (const [nodeId, node] of Object.entries(readLooseGraph(workflow) ?? {})) {
    for (const [input, value] of Object.entries(node.inputs ?? {})) {
      if (secretLocations.length >= MAX_LOCATIONS) return secretLocations;
      if (!isLink(value) && isMasked(value)) secretLocations.push({ kind: "input", node_id: nodeId, node: getNodeName(node), input });
    }
  }
  return [...secretLocations, ...findExtraDataSecrets(asObject(asObject(workflow)?.extra_data) ?? {})].slice(0, MAX_LOCATIONS);
}

function findExtraDataSecrets(extraData: JsonObject): SecretLocation[] {
  const secretLocations: SecretLocation[] = [];
  const path: string[] = [];
  const walk = (value: unknown) => {
    if (secretLocations.length >= MAX_LOCATIONS || path.length > MAX_DEPTH) return;
    const isLeaf =
      typeof value === "string" || (path.length === DRAWING_PATH.length && DRAWING_PATH.every((name, index) => path[index] === name));
    if (isLeaf && isMasked(value)) secretLocations.push({ kind: "extra", path: [...path] });
    else if (!isLeaf && typeof value === "object" && value !== null) {
      for (const [name, item] of Object.entries(value)) {
        path.push(name);
        walk(item);
        path.pop();
      }
    }
  };
  walk(extraData);
  return secretLocations;
}

export function findJobSecrets(detail: unknown): SecretLocation[] {
  const job = asObject(detail);
  if (!job) return [];
  const outputs = isObject(job.outputs) ? Object.entries(job.outputs) : [];
  return [
    ...findWorkflowSecrets(job.workflow),
    ...(isMasked(job.execution_error) || isMasked(job.execution_status) ? [{ kind: "error" } as const] : []),
    ...outputs.flatMap(([nodeId, output]) => (isMasked(output) ? [{ kind: "output", node_id: nodeId } as const] : [])),
  ].slice(0, MAX_LOCATIONS);
}

const readLocationKind = oneOf(["input", "extra", "error", "output"]);
const readSecretLocation = object(
  { kind: readLocationKind },
  { node_id: anyText, node: anyText, input: anyText, path: list(anyText, MAX_DEPTH) },
);

export function readSecretLocations(value: unknown): SecretLocation[] {
  return (list(readSecretLocation, MAX_LOCATIONS)(value) ?? []).flatMap(({ kind, node_id, node, input, path }): SecretLocation[] => {
    if (kind === "input") return node_id !== undefined && input !== undefined ? [{ kind, node_id, node: node ?? "", input }] : [];
    if (kind === "extra") return path ? [{ kind, path }] : [];
    if (kind === "output") return node_id !== undefined ? [{ kind, node_id }] : [];
    return [{ kind }];
  });
}
