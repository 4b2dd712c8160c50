// Checks the values before anything is sent: masked values, no output, values that the catalogue rules out. Mistakes in the shape of a
// workflow are reported as soon as it is open (faults.ts).
// Guarantees: pure; judges only with a catalogue where one is needed. `isSure` is false where the catalogue may be out of date.

import { own } from "@/lib/contract/json/own";
import { type NodeError, type NodeErrors } from "@/lib/contract/schemas/execution";
import { type Graph } from "@/lib/contract/schemas/graph";
import { type ObjectInfo } from "@/lib/contract/schemas/object-info";
import { isMasked } from "@/lib/contract/secrets/secret-texts";
import { mergedErrors } from "../workflow/faults";
import { isWarning } from "./node-problems";
import { missingInputs, NOT_WHOLE, valueChecker } from "./values";

type CheckCode = "masked_value" | typeof NOT_WHOLE | "prompt_no_outputs" | "prompt_outputs_failed_validation";
export type Checked = { code: CheckCode; errors: NodeErrors; isSure: boolean };

export function checkGraph(graph: Graph, catalogue: ObjectInfo | undefined): Checked | undefined {
  const masked = errorsOf(graph, (node) =>
    Object.entries(node.inputs).flatMap(([name, value]) => (isMasked(value) ? [error("masked_value", { input_name: name })] : [])),
  );
  if (masked) return { code: "masked_value", errors: masked, isSure: true };
  if (!catalogue) return undefined;
  const outputs = outputNodes(graph, catalogue);
  if (outputs.length === 0) return { code: "prompt_no_outputs", errors: {}, isSure: false };
  const found = mergedErrors(valueChecker(graph, outputs, catalogue)(graph), missingInputs(graph, outputs, catalogue));
  const errors = withoutWarnings(found);
  if (Object.keys(errors).length === 0) return undefined;
  // A class may check its inputs by its own rules, so the service decides. A fraction is a sure error: the service would silently cut it.
  const isSure = Object.values(errors).some((node) => node.errors.some(({ type }) => type === NOT_WHOLE));
  return { code: isSure ? NOT_WHOLE : "prompt_outputs_failed_validation", errors, isSure };
}

/** Ids of the nodes whose outputs a run is for: by the catalogue, otherwise the nodes that feed no other node. */
export function outputNodes(graph: Graph, catalogue: ObjectInfo | undefined): string[] {
  const ids = Object.keys(graph);
  if (catalogue) return ids.filter((id) => own(catalogue, graph[id]?.class_type ?? "")?.output_node === true);
  const feeding = new Set(
    ids.flatMap((id) => Object.values(graph[id]?.inputs ?? {}).flatMap((value) => (Array.isArray(value) ? [String(value[0])] : []))),
  );
  return ids.filter((id) => !feeding.has(id));
}

function withoutWarnings(found: NodeErrors): NodeErrors {
  const left = Object.entries(found).map(([id, node]) => {
    const errors = node.errors.filter(({ extra_info }) => !isWarning({ extra: extra_info }));
    return [id, { ...node, errors }] as const;
  });
  return Object.fromEntries(left.filter(([, { errors }]) => errors.length > 0));
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
