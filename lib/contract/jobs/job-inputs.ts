import { writeExactJson } from "../json/exact-json";
import { getOwn, type JsonObject } from "../json/json";
import { truncateText } from "../plain-line";
import { getNodeName, type LooseNode, readLooseGraph } from "../workflow/graph";
import { CLASS_PREFIX, type InputId, splitInputId, toInputId } from "./job-list";

const MAX_LISTED_LENGTH = 200;

export type JobInputs = ReadonlyMap<string, ReadonlyMap<string, string>>;

/** The values of a job's graph by node id and by class, shortened for lists. */
export function collectInputs(workflow: JsonObject | undefined): JobInputs {
  const textsByNode = new Map<string, Map<string, string>>();
  for (const [id, node] of Object.entries(readLooseGraph(workflow) ?? {})) {
    for (const [name, value] of Object.entries(node.inputs ?? {})) {
      if (!["string", "number", "bigint", "boolean"].includes(typeof value)) continue;
      const text = String(value).slice(0, MAX_LISTED_LENGTH);
      for (const key of [id, ...(node.class_type === undefined ? [] : [CLASS_PREFIX + node.class_type])]) {
        const values = textsByNode.get(key) ?? new Map<string, string>();
        textsByNode.set(key, values);
        if (!values.has(name)) values.set(name, text);
      }
    }
  }
  return textsByNode;
}

export type CommonInput = { id: InputId; name: string; jobs: number; example: string };

export function findCommonInputs(jobs: readonly JobInputs[]): CommonInput[] {
  const inputsById = new Map<InputId, CommonInput>();
  for (const job of jobs) {
    for (const [nodeKey, values] of job) {
      if (!nodeKey.startsWith(CLASS_PREFIX)) continue;
      for (const [input, example] of values) {
        const id = toInputId(nodeKey, input);
        const entry = inputsById.get(id) ?? { id, name: splitInputId(id).name, jobs: 0, example };
        inputsById.set(id, { ...entry, jobs: entry.jobs + 1 });
      }
    }
  }
  return [...inputsById.values()].sort((a, b) => b.jobs - a.jobs || a.name.localeCompare(b.name));
}

type InputDifference = {
  nodeId: string;
  node: string;
  input: string;
  values: (string | undefined)[];
};

const MAX_DIFFERENCE_LENGTH = 300;

export function findInputDifferences(
  workflows: readonly unknown[],
  maxDifferences = 200,
): { differences: InputDifference[]; isCut: boolean } {
  const graphs = workflows.map(readLooseGraph);
  const readableGraphs = graphs.filter((graph) => graph !== undefined);
  const ids = new Set(readableGraphs.flatMap((graph) => Object.keys(graph)));
  const differences: InputDifference[] = [];
  for (const nodeId of ids) {
    const nodes = graphs.map((graph) => getOwn(graph, nodeId));
    const names = new Set(nodes.flatMap((node) => Object.keys(node?.inputs ?? {})));
    for (const input of names) {
      const values = nodes.map((node) => formatValue(node, input));
      const comparableValues = values.filter((_, index) => graphs[index] !== undefined);
      if (comparableValues.every((value) => value === comparableValues[0])) continue;
      if (differences.length === maxDifferences) return { differences, isCut: true };
      const node = getNodeName(nodes.find((node) => node !== undefined));
      differences.push({ nodeId, node, input, values: values.map((value) => value && truncateText(value, MAX_DIFFERENCE_LENGTH)) });
    }
  }
  return { differences, isCut: false };
}

function formatValue(node: LooseNode | undefined, input: string): string | undefined {
  if (!node?.inputs || !Object.hasOwn(node.inputs, input)) return undefined;
  const value = getOwn(node.inputs, input);
  return typeof value === "string" ? value : writeExactJson(value);
}
