// What can be told before anything is sent: masked values, classes that the service lacks, nothing that puts anything out.
// (A loop or a link to nothing is refused when the file is opened, and no edit can make one.)
// Guarantees: pure; judges only with a catalogue where one is needed. `isSure` is false where the catalogue may be out of date.

import { type Graph } from "@/lib/contract/schemas/graph";
import { type NodeError, type NodeErrors } from "@/lib/contract/schemas/node-errors";
import { type ObjectInfo } from "@/lib/contract/schemas/object-info";
import { isMasked } from "./masked";
import { own } from "./own";

export type CheckCode = "masked_value" | "missing_node_type" | "prompt_no_outputs";
export type Checked = { code: CheckCode; errors: NodeErrors; isSure: boolean };

export function checkGraph(graph: Graph, catalogue: ObjectInfo | undefined): Checked | undefined {
  const masked = errorsOf(graph, (node) =>
    Object.entries(node.inputs).flatMap(([name, value]) => (isMasked(value) ? [error("masked_value", { input_name: name })] : [])),
  );
  if (masked) return { code: "masked_value", errors: masked, isSure: true };
  if (!catalogue) return undefined;
  const missing = errorsOf(graph, ({ class_type }) => (own(catalogue, class_type) ? [] : [error("missing_node_type", { class_type })]));
  if (missing) return { code: "missing_node_type", errors: missing, isSure: false };
  return outputNodes(graph, catalogue).length === 0 ? { code: "prompt_no_outputs", errors: {}, isSure: false } : undefined;
}

/** Node ids whose outputs are what a run is for: by the catalogue, else those that feed no other node. */
export function outputNodes(graph: Graph, catalogue: ObjectInfo | undefined): string[] {
  const ids = Object.keys(graph);
  if (catalogue) return ids.filter((id) => own(catalogue, graph[id]?.class_type ?? "")?.output_node === true);
  const feeding = new Set(
    ids.flatMap((id) => Object.values(graph[id]?.inputs ?? {}).flatMap((value) => (Array.isArray(value) ? [String(value[0])] : []))),
  );
  return ids.filter((id) => !feeding.has(id));
}

function errorsOf(graph: Graph, find: (node: Graph[string]) => NodeError[]): NodeErrors | undefined {
  const found = Object.entries(graph).flatMap(([id, node]) => {
    const errors = find(node);
    return errors.length === 0
      ? []
      : [[id, { class_type: node.class_type, dependent_outputs: [], errors }] satisfies [string, NodeErrors[string]]];
  });
  return found.length === 0 ? undefined : Object.fromEntries(found);
}

function error(type: CheckCode, extra_info: Record<string, unknown>): NodeError {
  return { type, message: "", details: "", extra_info };
}
