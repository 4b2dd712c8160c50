// Converts an editor file into the graph that the editor would send. Unknown values are reported as problems, never invented.

import { getSpelling, setSpelling } from "../json/exact-json";
import { asObject, getOwn, isObject, type JsonObject } from "../json/json";
import { parseJson } from "../json/parse-json";
import { listInputs } from "../nodes/dynamic-inputs";
import { drawChoices, type FillOptions, isFileName, replacePlaceholders } from "../nodes/fill-texts";
import { getSettings } from "../nodes/input-spec";
import { type Graph, type GraphNode } from "../schemas/graph";
import { type ObjectInfo } from "../schemas/object-info";
import { workflowLimits } from "../workflow/read-workflow";
import { hasSavedInputs, isSameJson, readSavedInputs } from "./drawing";
import { asArray, type Definition, type EditorFile, type EditorNode, isEditorFile, readEditorFile, toIdText } from "./file";
import { findSetter, findSource } from "./find-source";
import { expandGroupNode, isGroupNode } from "./group-nodes";
import { getHostValue, type Value } from "./instance-value";
import { getLinkedNodeIds, isNeverSent, isRunning, isSwitch, parseTunnel } from "./node-kinds";
import { createWidgetFinder, type EditorNotice, type EditorProblem, findProblems, roundToStep, toSentValue, UNNAMED } from "./sent-values";
import { getSlots, type LinkContext, type NodeLocation, type Scope, toGraphId } from "./slots";
import { getValueLocation, readWidgets, type ValueLocation, type Widget } from "./values";

export { type EditorNotice, type EditorProblem } from "./sent-values";

/** `rawTexts`: "node input" of texts that are sent unchanged. */
export type ConvertedWorkflow = { graph: Graph; problems: EditorProblem[]; notices: EditorNotice[]; rawTexts: string[] };
type ConvertedFile = ConvertedWorkflow & { valueLocations: ReadonlyMap<string, ValueLocation> };
/** `fill`: how placeholders in texts are replaced, as in the editor. False leaves them unchanged. */
type Options = { fill?: FillOptions | false };

const MAX_DEPTH = 50;
/** Definitions use one another, so a short file could expand to a huge graph. */
const MAX_EXPANDED_SIZE = 200_000;
const definitionIdPattern = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

export function toApiWorkflow(editorJson: unknown, objectInfo: ObjectInfo, options: Options = {}): ConvertedWorkflow {
  const parsed = typeof editorJson === "string" ? parseJson(editorJson) : editorJson;
  if (!isEditorFile(parsed)) return { graph: {}, problems: [{ code: "not_an_editor_file" }], notices: [], rawTexts: [] };
  const { fill = { at: new Date(), draw: 0 } } = options;
  const { graph, problems, notices, rawTexts } = convertFile(readEditorFile(parsed, objectInfo), objectInfo, fill);
  return { graph, problems, notices, rawTexts };
}

export function convertFile(file: EditorFile, info: ObjectInfo, fill: FillOptions | false): ConvertedFile {
  const problems: EditorProblem[] = file.linksByRule ? [{ code: "links_by_rule" }] : [];
  const notices: EditorNotice[] = [];
  const nodes: [string, GraphNode][] = [];
  const unlinkedNodes: NodeLocation[] = [];
  const rawTexts: string[] = [];
  const valueLocations = new Map<string, ValueLocation>();
  const enteredNodes = new Map<string, ReturnType<LinkContext["enterNode"]>>();
  const context: LinkContext = { info, enterNode, readPrimitiveValue };
  let expandedSize = 0;
  let visitedCount = 0;

  function enterNode(location: NodeLocation): ReturnType<LinkContext["enterNode"]> {
    const key = toGraphId(location.scope, location.node);
    if (!enteredNodes.has(key)) enteredNodes.set(key, createInnerScope(location));
    return enteredNodes.get(key);
  }

  function createInnerScope({ scope, node }: NodeLocation): ReturnType<LinkContext["enterNode"]> {
    if (expandedSize > MAX_EXPANDED_SIZE) return undefined;
    const path = `${toGraphId(scope, node)}:`;
    const group = isGroupNode(node) ? expandGroupNode(node, file.groupNodes, info) : undefined;
    const definition: Definition | undefined = group?.definition ?? file.definitions.get(node.type);
    if (!definition || path.split(":").length > MAX_DEPTH) return undefined;
    expandedSize += measureDefinition(definition);
    if (expandedSize > MAX_EXPANDED_SIZE) return undefined;
    const instance = group?.instance ?? node;
    return { definition, instance, scope: { path, net: definition, instance: { scope, node: instance, definition } } };
  }

  function readPrimitiveValue(node: EditorNode): unknown {
    const value = asObject(node.values)?.value ?? asArray(node.values)[0];
    const isReplaced = node.properties["Run widget replace on values"] === true && typeof value === "string";
    return isReplaced && fill ? replacePlaceholders(value, fill.at, findWidgetValue) : value;
  }

  const findWidgetValue = createWidgetFinder(file, info);

  function sendScope(scope: Scope): void {
    if (scope.net.nodes.length <= workflowLimits.nodes) problems.push(...findDuplicateIds(scope));
    for (const node of scope.net.nodes) {
      if (++visitedCount > workflowLimits.nodes) return;
      // The editor checks only the mode of the outermost subgraph node. Inner nodes are sent according to their own modes.
      const isDisabled = !isRunning(node);
      if (isDisabled && !scope.instance) continue;
      const location = { scope, node };
      const tunnel = parseTunnel(node, info);
      if (tunnel || isNeverSent(node)) {
        if (!isDisabled && isSwitch(node)) notices.push(createOmittedNotice(location));
        if (!isDisabled && tunnel?.side === "get" && findSetter(location, context)) {
          notices.push({ code: "resolved", nodeId: toGraphId(scope, node), name: tunnel.name });
        }
        continue;
      }
      const inner = enterNode(location);
      if (inner) {
        const previousCount = nodes.length;
        sendScope(inner.scope);
        if (isDisabled && nodes.length > previousCount) problems.push({ code: "inside_of_off_sent", nodeId: toGraphId(scope, node) });
      } else if (!isDisabled && isUnlinked(location)) unlinkedNodes.push(location);
      else if (!isDisabled) nodes.push([toGraphId(scope, node), toSentNode(location)]);
    }
  }

  function isUnlinked({ scope, node }: NodeLocation): boolean {
    return (
      !getOwn(info, node.type) && !definitionIdPattern.test(node.type) && !hasSavedInputs(node) && !getLinkedNodeIds(scope.net).has(node.id)
    );
  }

  function toSentNode(location: NodeLocation): GraphNode {
    const { node, scope } = location;
    const nodeId = toGraphId(scope, node);
    const nodeInfo = getOwn(info, node.type);
    const widgets = nodeInfo ? readWidgets(node, nodeInfo) : [];
    const specs = new Map(widgets.map(({ name, raw }) => [name, raw]));
    const inputs = nodeInfo ? getWidgetInputs(node, nodeId, widgets) : new Map(Object.entries(toSentValues(node.values)));
    for (const { name } of scope.instance ? widgets : []) {
      const hostValue = getHostValue(location, name);
      if (hostValue && getSlots(location, context).every((slot) => slot.name !== name || slot.link === undefined))
        setInput(name, hostValue);
    }
    function setInput(name: string, { value: sourceValue, isRaw, valueLocation }: Value): void {
      const raw = specs.get(name);
      const value = toSentValue(isRaw ? sourceValue : roundToStep(sourceValue, raw), raw);
      inputs.set(name, isRaw ? value : fillText(node, nodeId, name, value));
      valueLocations.set(`${nodeId} ${name}`, valueLocation);
      if (isRaw && typeof value === "string") rawTexts.push(`${nodeId} ${name}`);
    }
    if (!nodeInfo) problems.push(createMissingProblem(node, nodeId));
    for (const slot of getSlots(location, context)) {
      if (slot.link === undefined) continue;
      const source = findSource(location, slot, context);
      const { name } = slot;
      if (source.kind === "output") inputs.set(name, [source.id, source.slot]);
      else if (source.kind === "value" && (slot.hasWidget || source.isRaw)) setInput(name, source);
      else if (source.kind === "nothing" && source.reason) {
        if (source.reason === "unset") problems.push({ code: "not_set", nodeId, input: name, name: source.name });
        else problems.push({ code: source.reason === "broken" ? "broken_link" : "bypass_passes_nothing", nodeId, input: name });
      }
    }
    for (const [name, savedInput] of Object.entries(readSavedInputs(node))) {
      if (isSameJson(inputs.get(name), savedInput.reads)) inputs.set(name, savedInput.is);
    }
    return {
      class_type: node.type,
      inputs: restoreSpellings(nodeId, Object.fromEntries(inputs)),
      _meta: { title: node.title ?? nodeInfo?.display_name ?? node.type },
    };
  }

  function restoreSpellings(nodeId: string, inputs: JsonObject): JsonObject {
    for (const name of Object.keys(inputs)) {
      const valueLocation = valueLocations.get(`${nodeId} ${name}`);
      const spelling =
        valueLocation &&
        getSpelling(asObject(valueLocation.node.widgets_values) ?? asArray(valueLocation.node.widgets_values), valueLocation.key);
      if (spelling !== undefined) setSpelling(inputs, name, spelling);
    }
    return inputs;
  }

  function getWidgetInputs(node: EditorNode, nodeId: string, widgets: readonly Widget[]): Map<string, unknown> {
    const inputs = new Map<string, unknown>();
    for (const widget of widgets) {
      const { name } = widget;
      const value = toSentValue(widget.value, widget.raw);
      problems.push(...findProblems(widget, nodeId));
      valueLocations.set(`${nodeId} ${name}`, getValueLocation(node, widget));
      if (value !== undefined) inputs.set(name, fillText(node, nodeId, name, value));
    }
    return inputs;
  }

  function fillText({ type }: EditorNode, nodeId: string, name: string, value: unknown): unknown {
    if (typeof value !== "string" || !fill) return value;
    if (isFileName({ class_type: type, inputs: {} }, name)) return replacePlaceholders(value, fill.at, findWidgetValue);
    const raw = listInputs(getOwn(info, type), {}).find((input) => input.name === name)?.raw;
    return getSettings(raw).dynamicPrompts ? drawChoices(value, `${fill.draw} ${nodeId} ${name}`) : value;
  }

  sendScope({ path: "", net: file });
  // If no other node is left, the missing classes are reported as the reason why nothing can run.
  if (nodes.length > 0) notices.push(...unlinkedNodes.map(createOmittedNotice));
  else for (const location of unlinkedNodes) nodes.push([toGraphId(location.scope, location.node), toSentNode(location)]);
  if (visitedCount > workflowLimits.nodes || expandedSize > MAX_EXPANDED_SIZE)
    problems.push({ code: "too_many_nodes", max: workflowLimits.nodes });
  return { graph: Object.fromEntries(nodes), problems, notices, rawTexts, valueLocations };
}

function measureDefinition({ nodes, links, inputs, outputs }: Definition): number {
  const nodeSizes = nodes.map(
    (node) => 1 + node.inputs.length + node.outputs.length + (isObject(node.values) ? Object.keys(node.values) : node.values).length,
  );
  return nodeSizes.reduce((sum, size) => sum + size, links.size + inputs.length + outputs.length);
}

function toSentValues(values: EditorNode["values"]): JsonObject {
  const namedValues = isObject(values) ? values : values.length > 0 ? { [UNNAMED]: values } : {};
  return Object.fromEntries(Object.entries(namedValues).map(([name, value]) => [name, toSentValue(value, undefined) ?? value]));
}

function findDuplicateIds(scope: Scope): EditorProblem[] {
  const nodesByRawId = new Map<string | undefined, EditorNode[]>();
  for (const node of scope.net.nodes) {
    const id = toIdText(node.raw.id);
    const sameIdNodes = nodesByRawId.get(id);
    if (sameIdNodes) sameIdNodes.push(node);
    else nodesByRawId.set(id, [node]);
  }
  return [...nodesByRawId.values()].flatMap((nodes): EditorProblem[] => {
    const lastNode = nodes.at(-1);
    return lastNode && nodes.length > 1 ? [{ code: "duplicate_id", nodeId: toGraphId(scope, lastNode), count: nodes.length }] : [];
  });
}

function createOmittedNotice({ scope, node }: NodeLocation): EditorNotice {
  const { type: classType, title } = node;
  return { code: "left_out", nodeId: toGraphId(scope, node), classType, ...(title !== undefined && { title }) };
}

function createMissingProblem({ type, title, properties }: EditorNode, nodeId: string): EditorProblem {
  if (definitionIdPattern.test(type)) return { code: "missing_subgraph", nodeId, id: type };
  const { cnr_id: registryId, aux_id: repository, ver: version } = properties;
  const pack = [registryId, repository].find((id) => typeof id === "string");
  return {
    code: "missing_class",
    nodeId,
    classType: type,
    ...(title !== undefined && { title }),
    ...(typeof pack === "string" && { pack }),
    ...(typeof version === "string" && { version }),
  };
}
