// Finds where the value of an input comes from, over reroutes, bypassed nodes and the edges of subgraphs.
// Guarantees: never throws; ends on loops; never answers with a node that is not sent.
// Source: the editor's rules as docs/decisions/0045-files-of-the-editor.md names them.

import { type NodeInfo, type ObjectInfo } from "../schemas/object-info";
import { isObject, objectOf, parseJson, textOf } from "../json/json";
import { own } from "../json/own";
import { isGrowing } from "../nodes/dynamic-inputs";
import { settingsOf, typeOf } from "../nodes/input-spec";
import {
  type Definition,
  type EditorNode,
  INSIDE_END,
  INSIDE_START,
  listOf,
  type Net,
  nodesById,
  once,
  type Slot,
  slotFinder,
} from "./file";
import { BYPASSED, isNote, isPrimitive, isReroute, MUTED } from "./node-kinds";
import { classPlaces, type Home, homeOf, type Widget, widgetsOf } from "./values";

const DEEPEST = 200;
/** The most places of a bypassed node that are compared by lists of types. */
const MOST_TRIED = 1_000;

/** A net as one use of it has it; `use`: the node outside that contains it. */
export type Scope = { path: string; net: Net; use?: Use };
export type Use = { scope: Scope; node: EditorNode; definition: Definition };
export type Place = { scope: Scope; node: EditorNode };
export type Source =
  | { kind: "output"; id: string; slot: number }
  /** `home`: where the file has the value. `isRaw`: it comes from a widget of a subgraph, whose texts are not filled in. */
  | { kind: "value"; value: unknown; home: Home; isRaw?: boolean; isOfUse?: boolean }
  | { kind: "nothing"; why?: "broken" | "bypass" };
export type Following = {
  info: ObjectInfo;
  /** The inside of a use; undefined for a node that is not a use. */
  inside: (place: Place) => { scope: Scope; definition: Definition; use: EditorNode } | undefined;
  /** Found before, by the node's id in the graph: a file may lead to one node in very many ways. */
  places: Map<string, readonly Slot[]>;
  promoted: Map<string, Source>;
  shown: Map<string, ReadonlyMap<number, number>>;
  widgets: Map<EditorNode, readonly Widget[]>;
  /** The value that a PrimitiveNode writes over the widgets it leads to. */
  primitiveValue: (node: EditorNode) => unknown;
};

/** The places of a node in the editor's order: sockets in the order of the class, its widgets, then places that only the file has. */
export function placesOf(place: Place, following: Following): readonly Slot[] {
  const key = idIn(place.scope, place.node);
  const known = following.places.get(key);
  if (known) return known;
  const made = makePlaces(place, following);
  following.places.set(key, made);
  return made;
}

function makePlaces(place: Place, following: Following): readonly Slot[] {
  const { node } = place;
  const { info, inside } = following;
  const within = inside(place);
  if (within) {
    const inFile = slotFinder(within.use.inputs);
    const seen = new Map<string, number>();
    return within.definition.inputs.map(({ name, type }) => {
      const at = seen.get(name) ?? 0;
      seen.set(name, at + 1);
      return { name, type, hasWidget: false, ...linkOf(inFile(name, at)) };
    });
  }
  const inFile = slotFinder(node.inputs);
  const known = own(info, node.type);
  if (!known) return node.inputs;
  const widgets = widgetsIn(node, known, following);
  const listed = classPlaces(known, widgets).flatMap(({ name, raw, hasWidget }): Slot[] => {
    if (isGrowing(raw)) return node.inputs.filter((slot) => slot.name.startsWith(`${name}.`));
    // A widget that cannot be linked has no place.
    if (hasWidget && settingsOf(raw).socketless !== undefined) return [];
    const slot = inFile(name);
    const type = typeOf(raw) === "COMFY_MATCHTYPE_V3" ? matchedType(slot, raw) : typeOf(raw);
    return [{ name, type, hasWidget, ...linkOf(slot) }];
  });
  const names = new Set(listed.map(({ name }) => name));
  return [...listed, ...node.inputs.filter(({ name, widget = name }) => !names.has(name) && !names.has(widget))];
}

/** The type as it was saved, which says more than the class, unless it is "*". */
function matchedType(slot: Slot | undefined, raw: unknown): string {
  if (slot && slot.type !== "*") return slot.type;
  return textOf(objectOf(settingsOf(raw).template)?.allowed_types) ?? "*";
}

function widgetsIn(node: EditorNode, info: NodeInfo, { widgets }: Following): readonly Widget[] {
  const made = widgets.get(node) ?? widgetsOf(node, info);
  widgets.set(node, made);
  return made;
}

/** Links inside by the outer input they begin at, the nodes they lead to, and the link that ends at each outer output. */
const edgesOf = once(({ links, nodes, outputs }: Definition) => {
  const begun = new Map<number, string[]>();
  const ends = new Map<number, string>();
  for (const [id, { origin, originSlot, target, targetSlot }] of links) {
    if (origin === INSIDE_START) begun.set(originSlot, begun.get(originSlot) ?? []);
    if (origin === INSIDE_START) begun.get(originSlot)?.push(id);
    if (target === INSIDE_END && !ends.has(targetSlot)) ends.set(targetSlot, id);
  }
  outputs.forEach((port, slot) => {
    const named = port.links.find((id) => links.has(id));
    if (named !== undefined) ends.set(slot, named);
  });
  const targets = new Map<string, EditorNode>();
  for (const node of nodes) for (const { link } of node.inputs) if (link !== undefined && !targets.has(link)) targets.set(link, node);
  return { begun, ends, targets };
});

const placeByLink = once((places: readonly Slot[]) => firstPlaces(places, ({ link }) => link));
const placeByType = once((places: readonly Slot[]) => firstPlaces(places, ({ type }) => type));

function firstPlaces(places: readonly Slot[], keyOf: (place: Slot) => string | undefined): ReadonlyMap<string | undefined, number> {
  return new Map(places.map((place, at) => [keyOf(place), at] as const).reverse());
}

function linkOf(slot: Slot | undefined): { link?: string } {
  return slot?.link === undefined ? {} : { link: slot.link };
}

export function follow(place: Place, slot: Slot, following: Following): Source {
  return input(place, slot, { type: slot.type, isDirect: true, steps: 0 }, following);
}

/** `type`: of the input at the end, or of the last bypassed one. `isDirect`: only edges of subgraphs lie in between. */
type Way = { type: string; isDirect: boolean; steps: number };
const nothing: Source = { kind: "nothing" };
const broken: Source = { kind: "nothing", why: "broken" };

function input({ scope }: Pick<Place, "scope">, slot: Slot, way: Way, following: Following): Source {
  if (slot.link === undefined) return nothing;
  const link = scope.net.links.get(slot.link);
  if (!link || way.steps > DEEPEST) return broken;
  const next = { ...way, steps: way.steps + 1 };
  const { use } = scope;
  if (use && link.origin === INSIDE_START) {
    const outer = placesOf(use, following)[link.originSlot];
    if (!outer) return broken;
    if (outer.link === undefined) return promoted(use, scope, link.originSlot, following);
    return input(use, outer, { ...next, type: outer.type }, following);
  }
  const origin = nodesById(scope.net).get(link.origin);
  return origin ? output({ scope, node: origin }, link.originSlot, next, following) : broken;
}

function output(place: Place, slot: number, way: Way, following: Following): Source {
  const { node, scope } = place;
  // The value of a primitive is written even if it is muted; over a reroute it reaches nothing.
  if (isPrimitive(node)) return way.isDirect ? primitive(node, following) : nothing;
  if (isNote(node) || node.mode === MUTED) return nothing;
  const onward = { ...way, isDirect: false };
  if (node.mode === BYPASSED) return bypassed(place, slot, onward, following);
  if (isReroute(node)) return input(place, node.inputs[0] ?? noSlot, onward, following);
  const within = following.inside(place);
  if (!within) return { kind: "output", id: idIn(scope, node), slot };
  const end = edgesOf(within.definition).ends.get(slot);
  return end === undefined ? nothing : input(within, { ...noSlot, link: end }, onward, following);
}

const noSlot: Slot = { name: "", type: "*", hasWidget: false };

function bypassed(place: Place, slot: number, way: Way, following: Following): Source {
  const places = placesOf(place, following);
  const chosen = places[bypassSlot(places, slot, way.type, outputType(place, slot, following))];
  if (!chosen) return { kind: "nothing", why: "bypass" };
  const found = input(place, chosen, { ...way, type: chosen.type }, following);
  return found === nothing ? { kind: "nothing", why: "bypass" } : found;
}

function bypassSlot(places: readonly Slot[], slot: number, type: string, outType: string): number {
  if (type === "*" || type === "") return places.length > slot ? slot : 0;
  const fitsBoth = (place: Slot) => fits(place.type, outType) && fits(place.type, type);
  const same = places[slot];
  if (same && fitsBoth(same)) return slot;
  return placeByType(places).get(type) ?? places.slice(0, MOST_TRIED).findIndex(fitsBoth);
}

function outputType(place: Place, slot: number, { info, inside }: Following): string {
  const { node } = place;
  const listed = inside(place)?.definition.outputs[slot]?.type ?? own(info, node.type)?.output?.[slot];
  const type = listed === undefined || listed === "COMFY_MATCHTYPE_V3" ? (node.outputs[slot]?.type ?? "*") : listed;
  return Array.isArray(type) ? "COMBO" : String(type);
}

/** "*" fits everything; lists fit if they share a type. */
function fits(one: string, other: string): boolean {
  const names = new Set(one.toLowerCase().split(","));
  const others = other.toLowerCase().split(",");
  return names.has("*") || others.some((name) => name === "*" || names.has(name));
}

/**
 * What a use shows for an input without a link: its own value, if an older editor kept one for each use; else the value of the first inner
 * widget on the input.
 */
function promoted(use: Use, inner: Scope, slot: number, following: Following): Source {
  const key = `${idIn(use.scope, use.node)} ${slot}`;
  const known = following.promoted.get(key);
  if (known) return known;
  // A placeholder until it is found: a definition may lead back to itself.
  following.promoted.set(key, nothing);
  const found = findPromoted(use, inner, slot, following);
  following.promoted.set(key, found);
  return found;
}

function findPromoted(use: Use, inner: Scope, slot: number, following: Following): Source {
  const shown = shownWidget(use, inner, slot, following);
  return shown.kind === "value" ? (valueOfUse(use, inner, slot, following) ?? shown) : shown;
}

/** The value of the first inner widget on an input of the use. */
function shownWidget(use: Use, inner: Scope, slot: number, following: Following): Source {
  const port = use.definition.inputs[slot];
  const { begun, targets } = edgesOf(use.definition);
  const ids = new Set(begun.get(slot));
  // In the order in which the input itself names them.
  for (const id of new Set([...(port?.links ?? []).filter((link) => ids.has(link)), ...ids])) {
    const node = targets.get(id);
    if (!node) continue;
    const place = { scope: inner, node };
    const within = following.inside(place);
    const places = placesOf(place, following);
    const at = placeByLink(places).get(id) ?? -1;
    if (within && at >= 0) {
      const found = promoted({ ...place, definition: within.definition }, within.scope, at, following);
      if (found.kind === "value") return found;
    }
    const known = own(following.info, node.type);
    const widget = known && widgetsIn(node, known, following).find(({ name }) => name === places[at]?.name);
    if (widget) return { kind: "value", value: widget.value ?? settingsOf(widget.raw).default, home: homeOf(node, widget), isRaw: true };
  }
  return nothing;
}

/** Inputs that a use shows as widgets, with their place among its values. */
const shownInputs = once(({ properties: { proxyWidgets } }: EditorNode): ReadonlyMap<unknown, number> => {
  const listed = listOf(typeof proxyWidgets === "string" ? parseJson(proxyWidgets) : proxyWidgets).map(listOf);
  return new Map(listed.flatMap(([id, name], at) => (id === "-1" ? [[name, at] as const] : [])).reverse());
});

/** Older editors kept a value for each input they named. Editors since 1.45 keep all values, recognised by what else they save. */
function valueOfUse(use: Use, inner: Scope, slot: number, following: Following): Source | undefined {
  const { node, definition } = use;
  const named = shownInputs(node).get(definition.inputs[slot]?.name);
  const keepsAll = Array.isArray(node.properties.previewExposures) && listOf(node.properties.proxyWidgets).length === 0;
  const at = named ?? (keepsAll ? placesAmongShown(use, inner, following).get(slot) : undefined) ?? -1;
  const value = listOf(node.values)[at];
  if (value === undefined || value === null) return undefined;
  return { kind: "value", value, home: homeOf(node, { key: at }), isRaw: true, ...(named !== undefined && { isOfUse: true }) };
}

/** Each input that shows a widget has one value, whether it is linked or not. */
function placesAmongShown(use: Use, inner: Scope, following: Following): ReadonlyMap<number, number> {
  const key = idIn(use.scope, use.node);
  const known = following.shown.get(key);
  if (known) return known;
  const shown = use.definition.inputs.flatMap((_, slot) => (shownWidget(use, inner, slot, following).kind === "value" ? [slot] : []));
  const made = new Map(shown.map((slot, at) => [slot, at]));
  following.shown.set(key, made);
  return made;
}

function primitive(node: EditorNode, { primitiveValue }: Following): Source {
  const value = primitiveValue(node);
  const key = isObject(node.values) ? "value" : 0;
  return value === undefined || value === null ? nothing : { kind: "value", value, home: homeOf(node, { key }) };
}

export function idIn({ path }: Scope, { id }: EditorNode): string {
  return path + id;
}
