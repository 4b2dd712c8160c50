// In which inputs do the graphs of a few jobs differ? For pictures that are looked at side by side.
// Guarantees: never throws, whatever a service stored as a workflow; a bounded list, in the order of the first graph that has the node.
// Free of zod: browsers load it.

import { writeExactJson } from "../json/exact-json";
import { isObject, objectOf, textOf } from "../json/json";

export type InputDifference = {
  nodeId: string;
  /** The node's title, else its class. */
  node: string;
  input: string;
  /** One for each workflow; undefined where it has no such node or input. */
  values: (string | undefined)[];
};

const LONGEST_VALUE = 300;

/** `workflows` as jobs carry them: `{ prompt, extra_data }` or a bare graph. One that is absent differs from nothing. */
export function inputDifferences(workflows: readonly unknown[], most = 200): { differences: InputDifference[]; isCut: boolean } {
  const graphs = workflows.map(graphOf);
  const known = graphs.filter((graph) => graph !== undefined);
  const ids = new Set(known.flatMap((graph) => Object.keys(graph)));
  const differences: InputDifference[] = [];
  for (const nodeId of ids) {
    const nodes = graphs.map((graph) => (graph && Object.hasOwn(graph, nodeId) ? objectOf(graph[nodeId]) : undefined));
    const names = new Set(nodes.flatMap((node) => Object.keys(objectOf(node?.inputs) ?? {})));
    for (const input of names) {
      const values = nodes.map((node) => valueOf(node, input));
      const told = values.filter((_, index) => graphs[index] !== undefined);
      if (told.every((value) => value === told[0])) continue;
      if (differences.length === most) return { differences, isCut: true };
      const node = nameOf(nodes.find((one) => one !== undefined));
      differences.push({ nodeId, node, input, values: values.map((value) => value && shortened(value)) });
    }
  }
  return { differences, isCut: false };
}

function graphOf(workflow: unknown): Record<string, unknown> | undefined {
  const held = objectOf(workflow);
  return objectOf(held?.prompt) ?? held;
}

function valueOf(node: Record<string, unknown> | undefined, input: string): string | undefined {
  const inputs = objectOf(node?.inputs);
  if (!inputs || !Object.hasOwn(inputs, input)) return undefined;
  const value = inputs[input];
  return typeof value === "string" ? value : writeExactJson(value);
}

/** For showing only: two long texts may differ at their ends. */
function shortened(text: string): string {
  return text.length > LONGEST_VALUE ? `${text.slice(0, LONGEST_VALUE)}…` : text;
}

function nameOf(node: Record<string, unknown> | undefined): string {
  const meta = isObject(node?._meta) ? textOf(node._meta.title) : undefined;
  return meta ?? textOf(node?.class_type) ?? "";
}
