// The locations of secrets in a job, found by their masks. Does not import zod, because the first page loads it.

import { asObject, isObject, type JsonObject } from "../json/json";
import { anyText, list, object, oneOf } from "../json/readers";
import { getNodeName, isLink, readLooseGraph } from "../workflow/graph";
import { isMasked } from "./secret-texts";

/** `extra`: the path to the field of extra_data. `error` and `output`: the text of a node, which a new run cannot omit. */
export type SecretPlace =
  | { kind: "input"; node_id: string; node: string; input: string }
  | { kind: "extra"; path: readonly string[] }
  | { kind: "error" }
  | { kind: "output"; node_id: string };

const MAX_PLACES = 50;
const MAX_DEPTH = 100;
const DRAWING = ["extra_pnginfo", "workflow"];

export function findWorkflowSecrets(workflow: unknown): SecretPlace[] {
  if (!isMasked(workflow)) return [];
  const secretPlaces: SecretPlace[] = [];
  for (const [nodeId, node] of Object.entries(readLooseGraph(workflow) ?? {})) {
    for (const [input, value] of Object.entries(node.inputs ?? {})) {
      if (secretPlaces.length >= MAX_PLACES) return secretPlaces;
      if (!isLink(value) && isMasked(value)) secretPlaces.push({ kind: "input", node_id: nodeId, node: getNodeName(node), input });
    }
  }
  return [...secretPlaces, ...findExtraDataSecrets(asObject(asObject(workflow)?.extra_data) ?? {})].slice(0, MAX_PLACES);
}

function findExtraDataSecrets(extraData: JsonObject): SecretPlace[] {
  const secretPlaces: SecretPlace[] = [];
  const path: string[] = [];
  const walk = (value: unknown) => {
    if (secretPlaces.length >= MAX_PLACES || path.length > MAX_DEPTH) return;
    const isUnit = typeof value === "string" || (path.length === DRAWING.length && DRAWING.every((name, at) => path[at] === name));
    if (isUnit && isMasked(value)) secretPlaces.push({ kind: "extra", path: [...path] });
    else if (!isUnit && typeof value === "object" && value !== null) {
      for (const [name, item] of Object.entries(value)) {
        path.push(name);
        walk(item);
        path.pop();
      }
    }
  };
  walk(extraData);
  return secretPlaces;
}

export function findJobSecrets(detail: unknown): SecretPlace[] {
  const job = asObject(detail);
  if (!job) return [];
  const outputs = isObject(job.outputs) ? Object.entries(job.outputs) : [];
  return [
    ...findWorkflowSecrets(job.workflow),
    ...(isMasked(job.execution_error) || isMasked(job.execution_status) ? [{ kind: "error" } as const] : []),
    ...outputs.flatMap(([nodeId, output]) => (isMasked(output) ? [{ kind: "output", node_id: nodeId } as const] : [])),
  ].slice(0, MAX_PLACES);
}

const readPlaceKind = oneOf(["input", "extra", "error", "output"]);
const readSecretPlace = object(
  { kind: readPlaceKind },
  { node_id: anyText, node: anyText, input: anyText, path: list(anyText, MAX_DEPTH) },
);

export function readSecretPlaces(value: unknown): SecretPlace[] {
  return (list(readSecretPlace, MAX_PLACES)(value) ?? []).flatMap(({ kind, node_id, node, input, path }): SecretPlace[] => {
    if (kind === "input") return node_id !== undefined && input !== undefined ? [{ kind, node_id, node: node ?? "", input }] : [];
    if (kind === "extra") return path ? [{ kind, path }] : [];
    if (kind === "output") return node_id !== undefined ? [{ kind, node_id }] : [];
    return [{ kind }];
  });
}
