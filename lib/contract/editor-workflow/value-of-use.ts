// What a use of a subgraph sends for an input without a link: what it shows there to a person.
// Guarantees: never throws; ends on definitions that lead back to themselves.

import { parseJson } from "../json/json";
import { own } from "../json/own";
import { settingsOf } from "../nodes/input-spec";
import { type Definition, type EditorNode, INSIDE_START, listOf, once, type Slot } from "./file";
import { type Following, idIn, type Scope, type Use } from "./scope";
import { slotsOf, widgetsIn } from "./slots";
import { type Home, homeOf } from "./values";

/**
 * `home`: where the file has it. `isRaw`: it comes from a widget of a subgraph, whose texts are not filled in. `isOfUse`: an older editor
 * kept it for this use alone.
 */
export type Value = { kind: "value"; value: unknown; home: Home; isRaw?: boolean; isOfUse?: boolean };

const valuesFound = once<Following, Map<string, Value | undefined>>(() => new Map());
const placesFound = once<Following, Map<string, ReadonlyMap<number, number>>>(() => new Map());

/** `inside`: the scope of the use's own nodes. The use's own value counts before that of the inner widget it shows. */
export function valueOfUse(use: Use, inside: Scope, input: number, following: Following): Value | undefined {
  const found = valuesFound(following);
  const key = `${idIn(use.scope, use.node)} ${input}`;
  if (found.has(key)) return found.get(key);
  // Until it is found there is none: a definition may lead back to itself.
  found.set(key, undefined);
  const shown = innerValue(use, inside, input, following);
  const value = shown && (ownValue(use, inside, input, following) ?? shown);
  found.set(key, value);
  return value;
}

/** The value of the first inner widget that the input leads to. */
function innerValue({ definition }: Use, inside: Scope, input: number, following: Following): Value | undefined {
  for (const { link, node } of startsOf(definition)[input] ?? []) {
    const place = { scope: inside, node };
    const within = following.inside(place);
    const slots = slotsOf(place, following);
    const at = placeByLink(slots).get(link) ?? -1;
    const deeper = within && at >= 0 && valueOfUse({ ...place, definition: within.definition }, within.scope, at, following);
    if (deeper) return deeper;
    const known = own(following.info, node.type);
    const widget = known && widgetsIn(node, known, following).find(({ name }) => name === slots[at]?.name);
    if (widget) return { kind: "value", value: widget.value ?? settingsOf(widget.raw).default, home: homeOf(node, widget), isRaw: true };
  }
  return undefined;
}

/** For each input of a definition, the links that begin there and the nodes they lead to; those that the input itself names come first. */
const startsOf = once(({ inputs, links, nodes }: Definition) => {
  const targets = new Map(nodes.flatMap((node) => node.inputs.map(({ link }) => [link, node] as const)).reverse());
  const begun = inputs.map(() => new Set<string>());
  for (const [id, { origin, originSlot }] of links) if (origin === INSIDE_START) begun[originSlot]?.add(id);
  return inputs.map((port, at) => {
    const named = port.links.filter((id) => begun[at]?.has(id));
    return [...new Set([...named, ...(begun[at] ?? [])])].flatMap((link) => {
      const node = targets.get(link);
      return node ? [{ link, node }] : [];
    });
  });
});

const placeByLink = once((slots: readonly Slot[]) => new Map(slots.map(({ link }, at) => [link, at] as const).reverse()));

/** Older editors kept values for the inputs that they named. Editors since 1.45 keep all values, recognised by what else they save. */
function ownValue(use: Use, inside: Scope, input: number, following: Following): Value | undefined {
  const { node, definition } = use;
  const { previewExposures, proxyWidgets } = node.properties;
  const named = placesOfNamed(node).get(definition.inputs[input]?.name);
  const keepsAll = Array.isArray(previewExposures) && listOf(proxyWidgets).length === 0;
  const at = named ?? (keepsAll ? placesOfAll(use, inside, following).get(input) : undefined) ?? -1;
  const value = listOf(node.values)[at];
  if (value === undefined || value === null) return undefined;
  return { kind: "value", value, home: homeOf(node, { key: at }), isRaw: true, ...(named !== undefined && { isOfUse: true }) };
}

/** By the input's name, the place of its value in the use's list. */
const placesOfNamed = once(({ properties: { proxyWidgets } }: EditorNode): ReadonlyMap<unknown, number> => {
  const listed = listOf(typeof proxyWidgets === "string" ? parseJson(proxyWidgets) : proxyWidgets).map(listOf);
  return new Map(listed.flatMap(([id, name], at) => (id === "-1" ? [[name, at] as const] : [])).reverse());
});

/** Each input that shows a widget has one value, whether it is linked or not. */
function placesOfAll(use: Use, inside: Scope, following: Following): ReadonlyMap<number, number> {
  const found = placesFound(following);
  const key = idIn(use.scope, use.node);
  const places = found.get(key) ?? findPlacesOfAll(use, inside, following);
  found.set(key, places);
  return places;
}

function findPlacesOfAll(use: Use, inside: Scope, following: Following): ReadonlyMap<number, number> {
  const shown = use.definition.inputs.flatMap((_, input) => (innerValue(use, inside, input, following) ? [input] : []));
  return new Map(shown.map((input, at) => [input, at]));
}
