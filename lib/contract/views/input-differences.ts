// Finds the inputs in which the graphs of a few jobs differ, for pictures that are compared side by side.
// Guarantees: never throws, whatever a service stored as a workflow; a bounded list, in the order of the first graph that has the node.
// Free of zod: browsers load it.

import { writeExactJson } from "../json/exact-json";
import { own } from "../json/own";
import { looseGraph, type LooseNode, nodeName } from "../workflow/loose-graph";

export type InputDifference = {
  nodeId: string;
  /** The node's title, else its class. */
  node: string;
  input: string;
  /** One for each workflow; undefined if it has no such node or input. */
  values: (string | undefined)[];
};

const LONGEST_VALUE = 300;

/** `workflows` as jobs carry them: `{ prompt, extra_data }` or a bare graph. An absent one differs from nothing. */
export function inputDifferences(workflows: readonly unknown[], most = 200): { differences: InputDifference[]; isCut: boolean } {
  const graphs = workflows.map(looseGraph);
  const known = graphs.filter((graph) => graph !== undefined);
  const ids = new Set(known.flatMap((graph) => Object.keys(graph)));
  const differences: InputDifference[] = [];
  for (const nodeId of ids) {
    const nodes = graphs.map((graph) => own(graph, nodeId));
    const names = new Set(nodes.flatMap((node) => Object.keys(node?.inputs ?? {})));
    for (const input of names) {
      const values = nodes.map((node) => valueOf(node, input));
      const comparable = values.filter((_, index) => graphs[index] !== undefined);
      if (comparable.every((value) => value === comparable[0])) continue;
      if (differences.length === most) return { differences, isCut: true };
      const node = nodeName(nodes.find((one) => one !== undefined));
      differences.push({ nodeId, node, input, values: values.map((value) => value && shortened(value)) });
    }
  }
  return { differences, isCut: false };
}

function valueOf(node: LooseNode | undefined, input: string): string | undefined {
  if (!node?.inputs || !Object.hasOwn(node.inputs, input)) return undefined;
  const value = own(node.inputs, input);
  return typeof value === "string" ? value : writeExactJson(value);
}

/** For display only: two long texts may differ at their ends. */
function shortened(text: string): string {
  return text.length > LONGEST_VALUE ? `${text.slice(0, LONGEST_VALUE)}…` : text;
}
