// Resolves an input through reroutes, bypassed nodes, Set and Get nodes and subgraph boundaries. Stops at loops.

import { getOwn, isObject } from "../json/json";
import { type Definition, type EditorNode, getNodesById, INSIDE_END, INSIDE_START, memoize, type Net, type Slot } from "./file";
import { getInstanceValue, type Value } from "./instance-value";
import { BYPASSED, isNeverSent, isNote, isPrimitive, MUTED, parseTunnel } from "./node-kinds";
import { getSlots, type LinkContext, type NodeLocation, type Scope, toGraphId } from "./slots";
import { getValueLocation } from "./values";

export type Source =
  | { kind: "output"; id: string; slot: number }
  | Value
  | { kind: "nothing"; reason?: "broken" | "bypass" }
  | { kind: "nothing"; reason: "unset"; name: string };

const emptySource: Source = { kind: "nothing" };
const brokenSource: Source = { kind: "nothing", reason: "broken" };
const bypassedSource: Source = { kind: "nothing", reason: "bypass" };
const unnamedSlot: Slot = { name: "", type: "*", hasWidget: false };

const MAX_DEPTH = 200;
const MAX_TRIED_SLOTS = 1_000;

/** `type`: of the final input or the last bypassed one. `isDirect`: only subgraph boundaries were crossed. */
type SourcePath = { type: string; isDirect: boolean; steps: number };

export function findSource({ scope }: NodeLocation, slot: Slot, context: LinkContext): Source {
  return followInput(scope, slot, { type: slot.type, isDirect: true, steps: 0 }, context);
}

function followInput(scope: Scope, slot: Slot, path: SourcePath, context: LinkContext): Source {
  if (slot.link === undefined) return emptySource;
  const link = scope.net.links.get(slot.link);
  if (!link || path.steps > MAX_DEPTH) return brokenSource;
  const nextPath = { ...path, steps: path.steps + 1 };
  const { instance } = scope;
  if (instance && link.origin === INSIDE_START) {
    const outerSlot = getSlots(instance, context)[link.originSlot];
    if (!outerSlot) return brokenSource;
    if (outerSlot.link === undefined) return getInstanceValue(instance, scope, link.originSlot, context) ?? emptySource;
    return followInput(instance.scope, outerSlot, { ...nextPath, type: outerSlot.type }, context);
  }
  const node = getNodesById(scope.net).get(link.origin);
  return node ? followOutput({ scope, node }, link.originSlot, nextPath, context) : brokenSource;
}

function followOutput(location: NodeLocation, output: number, path: SourcePath, context: LinkContext): Source {
  const { node, scope } = location;
  // A muted primitive still sets its value. A primitive's value doesn't pass through a reroute.
  if (isPrimitive(node)) return path.isDirect ? getPrimitiveSource(node, context) : emptySource;
  if (isNote(node) || node.mode === MUTED) return emptySource;
  const nextPath = { ...path, isDirect: false };
  if (node.mode === BYPASSED) return followBypassed(location, output, nextPath, context);
  const tunnel = parseTunnel(node, context.info);
  if (tunnel?.side === "get") {
    const setter = findSetter(location, context);
    const input = setter?.node.inputs.find(({ link }) => link !== undefined);
    // A Set node passes its input on even if it is muted or bypassed.
    return setter && input ? followInput(setter.scope, input, nextPath, context) : { kind: "nothing", reason: "unset", name: tunnel.name };
  }
  if (tunnel || isNeverSent(node)) return followInput(scope, node.inputs[output] ?? unnamedSlot, nextPath, context);
  const inner = context.enterNode(location);
  if (!inner) return { kind: "output", id: toGraphId(scope, node), slot: output };
  const outputLink = getOutputLinks(inner.definition).get(output);
  return outputLink === undefined ? emptySource : followInput(inner.scope, { ...unnamedSlot, link: outputLink }, nextPath, context);
}

/** The Set node that a Get node reads: the first one in its own graph, otherwise in the nearest enclosing graph. */
export function findSetter({ scope, node }: NodeLocation, { info }: LinkContext): NodeLocation | undefined {
  const tunnel = parseTunnel(node, info);
  if (!tunnel || tunnel.name === "") return undefined;
  for (let enclosingScope: Scope | undefined = scope; enclosingScope; enclosingScope = enclosingScope.instance?.scope) {
    const editorNode = getSetters(enclosingScope.net)
      .get(`${tunnel.setter} ${tunnel.name}`)
      ?.find((setter) => parseTunnel(setter, info));
    if (editorNode) return { scope: enclosingScope, node: editorNode };
  }
  return undefined;
}

const getSetters = memoize(({ nodes }: Net): ReadonlyMap<string, readonly EditorNode[]> => {
  const setters = new Map<string, EditorNode[]>();
  for (const node of nodes) {
    const tunnel = parseTunnel(node, {});
    if (tunnel?.side !== "set") continue;
    const key = `${tunnel.setter} ${tunnel.name}`;
    const sameNameSetters = setters.get(key);
    if (sameNameSetters) sameNameSetters.push(node);
    else setters.set(key, [node]);
  }
  return setters;
});

function getPrimitiveSource(node: EditorNode, { readPrimitiveValue }: LinkContext): Source {
  const value = readPrimitiveValue(node);
  const key = isObject(node.values) ? "value" : 0;
  return value === undefined || value === null ? emptySource : { kind: "value", value, valueLocation: getValueLocation(node, { key }) };
}

const getOutputLinks = memoize(({ links, outputs }: Definition): ReadonlyMap<number, string> => {
  const outputLinks = [...links].flatMap(([id, { target, targetSlot }]) => (target === INSIDE_END ? [[targetSlot, id] as const] : []));
  const portLinks = outputs.flatMap((port, output) => {
    const link = port.links.find((id) => links.has(id));
    return link === undefined ? [] : [[output, link] as const];
  });
  return new Map([...outputLinks.reverse(), ...portLinks]);
});

function followBypassed(location: NodeLocation, output: number, path: SourcePath, context: LinkContext): Source {
  const slots = getSlots(location, context);
  const slot = slots[findBypassedInput(slots, output, path.type, getOutputType(location, output, context))];
  if (!slot) return bypassedSource;
  const source = followInput(location.scope, slot, { ...path, type: slot.type }, context);
  return source === emptySource ? bypassedSource : source;
}

function findBypassedInput(slots: readonly Slot[], output: number, type: string, outputType: string): number {
  if (type === "*" || type === "") return slots.length > output ? output : 0;
  const fitsBoth = (slot: Slot) => isTypeCompatible(slot.type, outputType) && isTypeCompatible(slot.type, type);
  const sameIndexSlot = slots[output];
  if (sameIndexSlot && fitsBoth(sameIndexSlot)) return output;
  return getIndexByType(slots).get(type) ?? slots.slice(0, MAX_TRIED_SLOTS).findIndex(fitsBoth);
}

const getIndexByType = memoize((slots: readonly Slot[]) => new Map(slots.map(({ type }, index) => [type, index] as const).reverse()));

function getOutputType(location: NodeLocation, output: number, { info, enterNode }: LinkContext): string {
  const { node } = location;
  const outputType = enterNode(location)?.definition.outputs[output]?.type ?? getOwn(info, node.type)?.output?.[output];
  const type = outputType === undefined || outputType === "COMFY_MATCHTYPE_V3" ? (node.outputs[output]?.type ?? "*") : outputType;
  return Array.isArray(type) ? "COMBO" : String(type);
}

function isTypeCompatible(type: string, otherType: string): boolean {
  const names = new Set(type.toLowerCase().split(","));
  const otherNames = otherType.toLowerCase().split(",");
  return names.has("*") || otherNames.some((name) => name === "*" || names.has(name));
}
