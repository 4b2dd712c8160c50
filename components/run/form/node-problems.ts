// Puts an answer's node_errors where a person can see them: on the field, otherwise on the node, otherwise beside the form.
// Never drops an error: one that fits no node of the form is kept as a stray.

import { type Failure } from "@/lib/contract/failure";
import { own } from "@/lib/contract/json/own";
import { anyText, object } from "@/lib/contract/json/readers";
import { type NodeError, type NodeErrors } from "@/lib/contract/schemas/execution";
import { type Graph } from "@/lib/contract/schemas/graph";
import { type FormNode } from "./form-model";

export type Problem = { type: string; message: string; details: string; extra: Record<string, unknown> };

export type NodeProblems = { node: Problem[]; fields: Record<string, Problem[]> };

export type PlacedProblems = {
  byNode: Record<string, NodeProblems>;
  /** About nodes that the form does not have. */
  strays: { nodeId: string; problems: Problem[] }[];
  /** The first problem in form order that is not a warning. It gets the focus. */
  first?: { nodeId: string; field?: string };
  /** Nodes with a problem that is not a warning. */
  nodeCount: number;
};

/** Found by this page; the service may accept the value. */
export const isWarning = ({ extra }: Pick<Problem, "extra">): boolean => extra.isWarning === true;

export const hasErrors = ({ node, fields }: NodeProblems): boolean =>
  [...node, ...Object.values(fields).flat()].some((problem) => !isWarning(problem));

export function placeProblems(form: readonly FormNode[], errors: NodeErrors): PlacedProblems {
  const byNode = new Map<string, NodeProblems>();
  let first: PlacedProblems["first"];
  let nodeCount = 0;
  for (const node of form) {
    const entry = own(errors, node.id);
    if (!entry) continue;
    const placed = placeOnNode(node, entry.errors);
    byNode.set(node.id, placed);
    if (!hasErrors(placed)) continue;
    nodeCount += 1;
    const field = node.fields.find(({ name }) => own(placed.fields, name)?.some((problem) => !isWarning(problem)));
    first ??= placed.node.length > 0 || !field ? { nodeId: node.id } : { nodeId: node.id, field: field.name };
  }
  const strays = Object.entries(errors)
    .filter(([id]) => !byNode.has(id))
    .map(([nodeId, entry]) => ({ nodeId, problems: entry.errors.map(toProblem) }));
  return { byNode: Object.fromEntries(byNode), strays, ...(first && { first }), nodeCount: nodeCount + strays.length };
}

/**
 * `missing_node_type` comes without node_errors: the node is named by extra_info or by the text "Node ID '#1'".
 * Every node of that class gets the error, since the service lacks them all.
 */
export function missingClassErrors(graph: Graph, failure: Failure): NodeErrors | undefined {
  if (failure.code !== "missing_node_type") return undefined;
  const named = namedNode(failure);
  const classType = named.classType ?? (named.nodeId === undefined ? undefined : own(graph, named.nodeId)?.class_type);
  if (classType === undefined) return undefined;
  const error: NodeError = { type: "missing_node_type", message: failure.message, details: "", extra_info: { class_type: classType } };
  const ids = Object.keys(graph).filter((id) => graph[id]?.class_type === classType);
  return Object.fromEntries(ids.map((id) => [id, { class_type: classType, dependent_outputs: [], errors: [error] }]));
}

const readDetails = object({}, { node_id: anyText, class_type: anyText });

function namedNode({ details, message }: Failure): { nodeId?: string; classType?: string } {
  const { node_id, class_type } = readDetails(details) ?? {};
  const textId = typeof details === "string" ? /#([^'"\s]+)/.exec(details)?.[1] : undefined;
  const textClass = textId === undefined ? /'([^']+)'/.exec(message)?.[1] : undefined;
  return { nodeId: node_id ?? textId, classType: class_type ?? textClass };
}

function placeOnNode(node: FormNode, errors: readonly NodeError[]): NodeProblems {
  const names = new Set(node.fields.map(({ name }) => name));
  const onNode: Problem[] = [];
  const fields = new Map<string, Problem[]>();
  for (const error of errors) {
    const name = error.extra_info.input_name;
    if (typeof name === "string" && names.has(name)) fields.set(name, [...(fields.get(name) ?? []), toProblem(error)]);
    else onNode.push(toProblem(error));
  }
  return { node: onNode, fields: Object.fromEntries(fields) };
}

function toProblem({ type, message, details, extra_info }: NodeError): Problem {
  return { type, message, details, extra: extra_info };
}
