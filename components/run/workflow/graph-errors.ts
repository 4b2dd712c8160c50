// Problems in a workflow's structure: loops, links to missing nodes, missing classes.
// Guarantees: bounded, and reports only provable problems. Values don't matter, so errors are computed once per file.

import { writeExactJson } from "@/lib/contract/json/exact-json";
import { asObject, getOwn, type JsonObject } from "@/lib/contract/json/json";
import { type NodeError, type NodeErrors } from "@/lib/contract/schemas/execution";
import { type Graph } from "@/lib/contract/schemas/graph";
import { type ObjectInfo } from "@/lib/contract/schemas/object-info";
import { findCycle, findDanglingLinks, getNodeName } from "@/lib/contract/workflow/graph";
import { getDrawing } from "@/lib/contract/workflow/workflow-name";

/** `isSure`: no service could run it. Otherwise the problem may come from an outdated node list. */
export type GraphErrors = { errors: NodeErrors; isSure: boolean };

/** Maximum number of loops to report. */
const MAX_LOOPS = 20;

export function findGraphErrors(graph: Graph, catalogue: ObjectInfo | undefined): GraphErrors | undefined {
  const structureErrors = [...findDanglingLinkErrors(graph), ...findLoopErrors(graph, catalogue)];
  const classErrors = catalogue ? findClassErrors(graph, catalogue) : [];
  if (structureErrors.length + classErrors.length === 0) return undefined;
  return { errors: groupByNode(graph, [...structureErrors, ...classErrors]), isSure: structureErrors.length > 0 };
}

/** Lists graph errors first, then the service's errors. Duplicates appear once. */
export function mergeErrors(errors: NodeErrors | undefined, otherErrors: NodeErrors): NodeErrors {
  if (!errors) return otherErrors;
  const mergedErrors = new Map(Object.entries(errors));
  for (const [id, entry] of Object.entries(otherErrors)) {
    const existingEntry = mergedErrors.get(id);
    const existingKeys = new Set(existingEntry?.errors.map(toErrorKey));
    mergedErrors.set(
      id,
      existingEntry
        ? { ...existingEntry, errors: [...existingEntry.errors, ...entry.errors.filter((error) => !existingKeys.has(toErrorKey(error)))] }
        : entry,
    );
  }
  return Object.fromEntries(mergedErrors);
}

type GraphError = { nodeId: string; error: NodeError };

function findDanglingLinkErrors(graph: Graph): GraphError[] {
  return findDanglingLinks(graph).map(({ nodeId, input, source }) => ({
    nodeId,
    error: { type: "dangling_link", message: "", details: "", extra_info: { input_name: input, source } },
  }));
}

/** Finds one loop after another. Each loop is broken at its last link before the next search. */
function findLoopErrors(graph: Graph, catalogue: ObjectInfo | undefined): GraphError[] {
  const errors = new Map<string, GraphError>();
  let remainingGraph = graph;
  for (let count = 0; count < MAX_LOOPS; count++) {
    const loop = findCycle(remainingGraph)?.toReversed();
    const [firstId, lastId] = [loop?.[0], loop?.at(-1)];
    if (!loop || firstId === undefined || lastId === undefined) break;
    const details = [...loop, firstId].map((id) => `#${id} ${getTitle(graph, id, catalogue)}`).join(" → ");
    for (const nodeId of loop) {
      const error = { type: "dependency_cycle", message: "", details, extra_info: {} };
      if (!errors.has(nodeId)) errors.set(nodeId, { nodeId, error });
    }
    remainingGraph = withoutLink(remainingGraph, { from: lastId, to: firstId });
  }
  return [...errors.values()];
}

function withoutLink(graph: Graph, { from, to }: { from: string; to: string }): Graph {
  const node = getOwn(graph, to);
  if (!node) return graph;
  const inputs = Object.entries(node.inputs).filter(([, value]) => !(Array.isArray(value) && value[0] === from));
  return { ...graph, [to]: { ...node, inputs: Object.fromEntries(inputs) } };
}

function findClassErrors(graph: Graph, catalogue: ObjectInfo): GraphError[] {
  return Object.entries(graph).flatMap(([nodeId, { class_type }]) =>
    getOwn(catalogue, class_type)
      ? []
      : [{ nodeId, error: { type: "missing_node_type", message: "", details: "", extra_info: { class_type } } }],
  );
}

function groupByNode(graph: Graph, graphErrors: readonly GraphError[]): NodeErrors {
  const errors = new Map<string, NodeErrors[string]>();
  for (const { nodeId, error } of graphErrors) {
    const entry = errors.get(nodeId) ?? { class_type: getOwn(graph, nodeId)?.class_type ?? "", dependent_outputs: [], errors: [] };
    entry.errors.push(error);
    errors.set(nodeId, entry);
  }
  return Object.fromEntries(errors);
}

function toErrorKey({ type, extra_info }: NodeError): string {
  return writeExactJson([type, extra_info.input_name]);
}

function getTitle(graph: Graph, id: string, catalogue: ObjectInfo | undefined): string {
  const node = getOwn(graph, id);
  return node ? getNodeName(node, getOwn(catalogue, node.class_type)?.display_name) : "";
}

export type MissingClass = { classType: string; nodeIds: readonly string[]; pack?: string };

/** The workflow's classes that the service's node list lacks, each with its node pack if the editor's drawing names it. */
export function findMissingClasses(graph: Graph, catalogue: ObjectInfo | undefined, extraData: JsonObject | undefined): MissingClass[] {
  if (!catalogue) return [];
  const idsByClass = new Map<string, string[]>();
  for (const [id, { class_type: classType }] of Object.entries(graph))
    if (!getOwn(catalogue, classType)) idsByClass.set(classType, [...(idsByClass.get(classType) ?? []), id]);
  const packs = idsByClass.size > 0 ? findPacks(getDrawing(extraData)) : new Map<string, string>();
  return [...idsByClass].map(([classType, nodeIds]) => ({
    classType,
    nodeIds,
    ...(packs.has(classType) && { pack: packs.get(classType) }),
  }));
}

function findPacks(drawing: JsonObject | undefined): Map<string, string> {
  const subgraphs = toList(asObject(drawing?.definitions)?.subgraphs).flatMap((item) => toList(asObject(item)?.nodes));
  const groups = Object.values(asObject(asObject(drawing?.extra)?.groupNodes) ?? {}).flatMap((item) => toList(asObject(item)?.nodes));
  const packs = [...toList(drawing?.nodes), ...subgraphs, ...groups].flatMap((node) => {
    const type = asObject(node)?.type;
    const { cnr_id, aux_id } = asObject(asObject(node)?.properties) ?? {};
    const pack = [cnr_id, aux_id].find((id) => typeof id === "string" && id !== "");
    return typeof type === "string" && typeof pack === "string" ? [[type, pack] as const] : [];
  });
  return new Map(packs);
}

function toList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
