// Assigns a response's node_errors to a field, otherwise to its node. Errors without a matching node are unplaced.

import { useTranslations } from "next-intl";
import { cn } from "@/components/ui/cn";
import { type Failure } from "@/lib/contract/failure";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { getOwn } from "@/lib/contract/json/json";
import { anyText, object } from "@/lib/contract/json/readers";
import { boxEdges, getSettings, type Limit } from "@/lib/contract/nodes/input-spec";
import { truncateText } from "@/lib/contract/plain-line";
import { type NodeError, type NodeErrors } from "@/lib/contract/schemas/execution";
import { type Graph } from "@/lib/contract/schemas/graph";
import { type FormNode } from "./form-model";

export const NOT_WHOLE = "value_not_whole";

export type Problem = { type: string; message: string; details: string; extra: Record<string, unknown> };

export type NodeProblems = { node: Problem[]; fields: Record<string, Problem[]> };

export type PlacedProblems = {
  byNode: Record<string, NodeProblems>;
  /** Problems of nodes that are not in the form. */
  unplaced: { nodeId: string; problems: Problem[] }[];
  /** The first problem in form order that is not a warning. It gets the focus. */
  first?: { nodeId: string; field?: string };
  /** Nodes with a problem that is not a warning. */
  nodeCount: number;
};

/** A warning comes from this page only. The service may accept the value. */
export const isWarning = ({ extra }: Pick<Problem, "extra">): boolean => extra.isWarning === true;

export const hasErrors = ({ node, fields }: NodeProblems): boolean =>
  [...node, ...Object.values(fields).flat()].some((problem) => !isWarning(problem));

export function placeProblems(form: readonly FormNode[], errors: NodeErrors): PlacedProblems {
  const byNode = new Map<string, NodeProblems>();
  let firstProblem: PlacedProblems["first"];
  let nodeCount = 0;
  for (const node of form) {
    const entry = getOwn(errors, node.id);
    if (!entry) continue;
    const nodeProblems = placeOnNode(node, entry.errors);
    byNode.set(node.id, nodeProblems);
    if (!hasErrors(nodeProblems)) continue;
    nodeCount += 1;
    const field = node.fields.find(({ name }) => getOwn(nodeProblems.fields, name)?.some((problem) => !isWarning(problem)));
    firstProblem ??= nodeProblems.node.length > 0 || !field ? { nodeId: node.id } : { nodeId: node.id, field: field.name };
  }
  const unplaced = Object.entries(errors)
    .filter(([id]) => !byNode.has(id))
    .map(([nodeId, entry]) => ({ nodeId, problems: entry.errors.map(toProblem) }));
  return {
    byNode: Object.fromEntries(byNode),
    unplaced,
    ...(firstProblem && { first: firstProblem }),
    nodeCount: nodeCount + unplaced.length,
  };
}

/**
 * `missing_node_type` has no node_errors: the node is in extra_info or in the text "Node ID '#1'". Every node of that class gets the error.
 */
export function findMissingClassErrors(graph: Graph, failure: Failure): NodeErrors | undefined {
  if (failure.code !== "missing_node_type") return undefined;
  const nodeRef = parseNodeRef(failure);
  const classType = nodeRef.classType ?? (nodeRef.nodeId === undefined ? undefined : getOwn(graph, nodeRef.nodeId)?.class_type);
  if (classType === undefined) return undefined;
  const error: NodeError = { type: "missing_node_type", message: failure.message, details: "", extra_info: { class_type: classType } };
  const ids = Object.keys(graph).filter((id) => graph[id]?.class_type === classType);
  return Object.fromEntries(ids.map((id) => [id, { class_type: classType, dependent_outputs: [], errors: [error] }]));
}

const readDetails = object({}, { node_id: anyText, class_type: anyText });

function parseNodeRef({ details, message }: Failure): { nodeId?: string; classType?: string } {
  const { node_id, class_type } = readDetails(details) ?? {};
  const textId = typeof details === "string" ? /#([^'"\s]+)/.exec(details)?.[1] : undefined;
  const textClass = textId === undefined ? /'([^']+)'/.exec(message)?.[1] : undefined;
  return { nodeId: node_id ?? textId, classType: class_type ?? textClass };
}

function placeOnNode(node: FormNode, errors: readonly NodeError[]): NodeProblems {
  const names = new Set(node.fields.map(({ name }) => name));
  const nodeProblems: Problem[] = [];
  const fields = new Map<string, Problem[]>();
  for (const error of errors) {
    const name = error.extra_info.input_name;
    if (typeof name === "string" && names.has(name)) fields.set(name, [...(fields.get(name) ?? []), toProblem(error)]);
    else nodeProblems.push(toProblem(error));
  }
  return { node: nodeProblems, fields: Object.fromEntries(fields) };
}

function toProblem({ type, message, details, extra_info }: NodeError): Problem {
  return { type, message, details, extra: extra_info };
}

// The message key and values of a node's problem. The messages are in lib/messages. Unknown types use the service's own message. Values are
// shortened, since a received value may be a long text.

type ProblemMessage =
  | {
      key:
        | "required_input_missing"
        | "bad_linked_input"
        | "return_type_mismatch"
        | "invalid_input_type"
        | "value_smaller_than_min"
        | "value_bigger_than_max"
        | "value_not_in_list"
        | "value_not_in_list_near"
        | "value_not_whole"
        | "dependency_cycle"
        | "dangling_link"
        | "missing_node_type"
        | "masked_value"
        | "execution_failed"
        | "other"
        | "otherWithDetails";
      values: Record<string, string | number>;
    }
  | { key: "nameless"; values: Record<string, never> };

const MAX_VALUE_LENGTH = 80;
const MAX_MESSAGE_LENGTH = 400;

export function toProblemMessage({ type, message, details, extra }: Problem): ProblemMessage {
  const input = formatValue(extra.input_name);
  const received = formatValue(extra.received_value ?? extra.received_type);
  const { min, max } = getSettings(extra.input_config);
  if (type === "required_input_missing" && input) return { key: type, values: { input } };
  if (type === "masked_value" && input) return { key: type, values: { input } };
  if (type === "bad_linked_input" && input) return { key: type, values: { input } };
  if (type === "dangling_link" && input) return { key: type, values: { input, source: formatValue(extra.source) } };
  if (type === "return_type_mismatch" && input && received) return { key: type, values: { input, received } };
  if (type === "invalid_input_type" && input && "received_value" in extra)
    return { key: type, values: { input, received: received || "“”" } };
  if (type === "value_smaller_than_min" && received && min !== undefined) return { key: type, values: { received, min: formatLimit(min) } };
  if (type === "value_bigger_than_max" && received && max !== undefined) return { key: type, values: { received, max: formatLimit(max) } };
  if (type === "value_not_whole" && input && received) return { key: type, values: { input, received } };
  const nearest = formatValue(extra.nearest);
  if (type === "value_not_in_list" && received && nearest) return { key: "value_not_in_list_near", values: { received, nearest } };
  if (type === "value_not_in_list" && received) return { key: type, values: { received } };
  if (type === "dependency_cycle" && details) return { key: type, values: { path: details } };
  if (type === "missing_node_type" && typeof extra.class_type === "string") return { key: type, values: { classType: extra.class_type } };
  if (type === "execution_failed" && typeof extra.job === "string")
    return { key: type, values: { job: extra.job, message: message.slice(0, MAX_MESSAGE_LENGTH) } };
  if (message && details) return { key: "otherWithDetails", values: { message, details: formatValue(details) } };
  if (message || details) return { key: "other", values: { message: message || formatValue(details) } };
  return { key: "nameless", values: {} };
}

/** Exact, since a rejected value may exceed its limit by one. */
function formatLimit(limit: Limit): number | string {
  return typeof limit === "bigint" ? String(limit) : limit;
}

function formatValue(value: unknown): string {
  return truncateText(
    typeof value === "string" ? value : value === undefined || value === null ? "" : writeExactJson(value),
    MAX_VALUE_LENGTH,
  );
}

export function ProblemList({ id, problems, className }: { id?: string; problems: readonly Problem[]; className?: string }) {
  const t = useTranslations("run.problem");
  const tBox = useTranslations("run.field.box");
  /** A problem with one edge of a box also names that edge. */
  const formatProblem = (problem: Problem) => {
    const { key, values } = toProblemMessage(problem);
    const edge = boxEdges.find((boxEdge) => boxEdge === problem.extra.edge);
    const sentence = t(key, edge && "input" in values ? { ...values, input: `${values.input} ${tBox(edge)}` } : values);
    return isWarning(problem) ? t("asWarning", { sentence }) : sentence;
  };
  if (problems.length === 0) return null;
  return (
    <ul id={id} className={cn("flex flex-col gap-0.5 text-bad", className)}>
      {problems.map((problem, index) => (
        <li key={index} className={isWarning(problem) ? "text-wait" : undefined}>
          {formatProblem(problem)}
        </li>
      ))}
    </ul>
  );
}
