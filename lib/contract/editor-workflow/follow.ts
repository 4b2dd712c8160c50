// Resolves an input through reroutes, bypassed nodes, Set and Get nodes and subgraph borders. Ends on loops.

import { isObject } from "../json/json";
import { own } from "../json/own";
import { type Definition, type EditorNode, INSIDE_END, INSIDE_START, type Net, nodesById, once, type Slot } from "./file";
import { BYPASSED, isNeverSent, isNote, isPrimitive, MUTED, tunnelOf } from "./node-kinds";
import { idIn, type LinkContext, type NodeLocation, type Scope, slotsOf } from "./slots";
import { type Value, valueOfUse } from "./value-of-use";
import { valueLocationOf } from "./values";

export type Source =
  | { kind: "output"; id: string; slot: number }
  | Value
  | { kind: "nothing"; reason?: "broken" | "bypass" }
  | { kind: "nothing"; reason: "unset"; name: string };

const nothing: Source = { kind: "nothing" };
const broken: Source = { kind: "nothing", reason: "broken" };
const passesNothing: Source = { kind: "nothing", reason: "bypass" };
const unnamed: Slot = { name: "", type: "*", hasWidget: false };

const MAX_DEPTH = 200;
const MAX_TRIED = 1_000;

/** `type`: of the input at the end, or of the last bypassed one. `isDirect`: only edges of subgraphs lie in between. */
type PathToSource = { type: string; isDirect: boolean; steps: number };

export function follow({ scope }: NodeLocation, slot: Slot, following: LinkContext): Source {
  return fromInput(scope, slot, { type: slot.type, isDirect: true, steps: 0 }, following);
}

function fromInput(scope: Scope, slot: Slot, way: PathToSource, following: LinkContext): Source {
  if (slot.link === undefined) return nothing;
  const link = scope.net.links.get(slot.link);
  if (!link || way.steps > MAX_DEPTH) return broken;
  const next = { ...way, steps: way.steps + 1 };
  const { use } = scope;
  if (use && link.origin === INSIDE_START) {
    const outer = slotsOf(use, following)[link.originSlot];
    if (!outer) return broken;
    if (outer.link === undefined) return valueOfUse(use, scope, link.originSlot, following) ?? nothing;
    return fromInput(use.scope, outer, { ...next, type: outer.type }, following);
  }
  const node = nodesById(scope.net).get(link.origin);
  return node ? fromOutput({ scope, node }, link.originSlot, next, following) : broken;
}

function fromOutput(location: NodeLocation, output: number, way: PathToSource, following: LinkContext): Source {
  const { node, scope } = location;
  // The value of a primitive is written even if it is muted; over a reroute it reaches nothing.
  if (isPrimitive(node)) return way.isDirect ? valueOfPrimitive(node, following) : nothing;
  if (isNote(node) || node.mode === MUTED) return nothing;
  const onward = { ...way, isDirect: false };
  if (node.mode === BYPASSED) return fromBypassed(location, output, onward, following);
  const tunnel = tunnelOf(node, following.info);
  if (tunnel?.side === "get") {
    const setter = setterFor(location, following);
    const input = setter?.node.inputs.find(({ link }) => link !== undefined);
    // A Set node passes its input on even if it is muted or bypassed itself.
    return setter && input ? fromInput(setter.scope, input, onward, following) : { kind: "nothing", reason: "unset", name: tunnel.name };
  }
  if (tunnel || isNeverSent(node)) return fromInput(scope, node.inputs[output] ?? unnamed, onward, following);
  const within = following.inside(location);
  if (!within) return { kind: "output", id: idIn(scope, node), slot: output };
  const end = endsOf(within.definition).get(output);
  return end === undefined ? nothing : fromInput(within.scope, { ...unnamed, link: end }, onward, following);
}

/** The Set node that a Get node reads: the first one in its own graph, otherwise in the nearest enclosing graph. */
export function setterFor({ scope, node }: NodeLocation, { info }: LinkContext): NodeLocation | undefined {
  const tunnel = tunnelOf(node, info);
  if (!tunnel || tunnel.name === "") return undefined;
  for (let within: Scope | undefined = scope; within; within = within.use?.scope) {
    const editorNode = settersIn(within.net)
      .get(`${tunnel.setter} ${tunnel.name}`)
      ?.find((setter) => tunnelOf(setter, info));
    if (editorNode) return { scope: within, node: editorNode };
  }
  return undefined;
}

const settersIn = once(({ nodes }: Net): ReadonlyMap<string, readonly EditorNode[]> => {
  const setters = new Map<string, EditorNode[]>();
  for (const node of nodes) {
    const tunnel = tunnelOf(node, {});
    if (tunnel?.side !== "set") continue;
    const key = `${tunnel.setter} ${tunnel.name}`;
    setters.set(key, [...(setters.get(key) ?? []), node]);
  }
  return setters;
});

function valueOfPrimitive(node: EditorNode, { primitiveValue }: LinkContext): Source {
  const value = primitiveValue(node);
  const key = isObject(node.values) ? "value" : 0;
  return value === undefined || value === null ? nothing : { kind: "value", value, home: valueLocationOf(node, { key }) };
}

const endsOf = once(({ links, outputs }: Definition): ReadonlyMap<number, string> => {
  const ends = [...links].flatMap(([id, { target, targetSlot }]) => (target === INSIDE_END ? [[targetSlot, id] as const] : []));
  const named = outputs.flatMap((port, output) => {
    const link = port.links.find((id) => links.has(id));
    return link === undefined ? [] : [[output, link] as const];
  });
  return new Map([...ends.reverse(), ...named]);
});

function fromBypassed(location: NodeLocation, output: number, way: PathToSource, following: LinkContext): Source {
  const slots = slotsOf(location, following);
  const slot = slots[bypassedTo(slots, output, way.type, outputType(location, output, following))];
  if (!slot) return passesNothing;
  const source = fromInput(location.scope, slot, { ...way, type: slot.type }, following);
  return source === nothing ? passesNothing : source;
}

function bypassedTo(slots: readonly Slot[], output: number, type: string, outType: string): number {
  if (type === "*" || type === "") return slots.length > output ? output : 0;
  const fitsBoth = (slot: Slot) => fits(slot.type, outType) && fits(slot.type, type);
  const same = slots[output];
  if (same && fitsBoth(same)) return output;
  return placeByType(slots).get(type) ?? slots.slice(0, MAX_TRIED).findIndex(fitsBoth);
}

const placeByType = once((slots: readonly Slot[]) => new Map(slots.map(({ type }, at) => [type, at] as const).reverse()));

function outputType(location: NodeLocation, output: number, { info, inside }: LinkContext): string {
  const { node } = location;
  const outputType = inside(location)?.definition.outputs[output]?.type ?? own(info, node.type)?.output?.[output];
  const type = outputType === undefined || outputType === "COMFY_MATCHTYPE_V3" ? (node.outputs[output]?.type ?? "*") : outputType;
  return Array.isArray(type) ? "COMBO" : String(type);
}

function fits(value: string, other: string): boolean {
  const names = new Set(value.toLowerCase().split(","));
  const others = other.toLowerCase().split(",");
  return names.has("*") || others.some((name) => name === "*" || names.has(name));
}
