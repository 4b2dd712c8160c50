// The value that a use of a subgraph sends for an unlinked input. Ends on definitions that contain themselves.

import { isObject } from "../json/json";
import { own } from "../json/own";
import { settingsOf } from "../nodes/input-spec";
import { type Definition, type EditorNode, parseEntries, toIdText, INSIDE_START, listOf, memoize, type Slot } from "./file";
import { idIn, type LinkContext, type NodeLocation, type Scope, slotsOf, type Use, widgetsIn } from "./slots";
import { isControlled, type ValueLocation, valueLocationOf } from "./values";

/** `home`: where the file stores it. `isRaw`: from a subgraph widget, whose texts are not filled in. */
export type Value = { kind: "value"; value: unknown; home: ValueLocation; isRaw?: boolean };
type InnerValue = Value & { source: string; hasControl: boolean };

const valuesFound = memoize<LinkContext, Map<string, InnerValue | undefined>>(() => new Map());
const placesFound = memoize<LinkContext, Map<string, ReadonlyMap<number, number>>>(() => new Map());

/** `inside`: the scope of the use's own nodes. The use's own value counts before that of the inner widget it shows. */
export function valueOfUse(use: Use, inside: Scope, input: number, following: LinkContext): InnerValue | undefined {
  const cache = valuesFound(following);
  const key = `${idIn(use.scope, use.node)} ${input}`;
  if (cache.has(key)) return cache.get(key);
  // Undefined while it is computed: a definition may contain itself.
  cache.set(key, undefined);
  const inner = innerValue(use, inside, input, following);
  const value = inner && { ...inner, ...ownValue(use, inside, { input, shown: inner }, following) };
  cache.set(key, value);
  return value;
}

export function valueOfHost({ scope: { use }, node }: NodeLocation, widget: string): Value | undefined {
  return use && proxiedValue(use.node, [sourceOf(node, widget)]);
}

function sourceOf({ raw }: EditorNode, widget: string): string {
  return `${toIdText(raw.id)} ${widget}`;
}

function innerValue({ definition }: Use, inside: Scope, input: number, following: LinkContext): InnerValue | undefined {
  for (const { link, node } of startsOf(definition)[input] ?? []) {
    const location = { scope: inside, node };
    const within = following.inside(location);
    const slots = slotsOf(location, following);
    const at = placeByLink(slots).get(link) ?? -1;
    const source = sourceOf(node, slots[at]?.name ?? "");
    const deeper = within && at >= 0 && valueOfUse({ ...location, definition: within.definition }, within.scope, at, following);
    if (deeper) return { ...deeper, source };
    const nodeInfo = own(following.info, node.type);
    const widget = nodeInfo && widgetsIn(node, nodeInfo, following).find(({ name }) => name === slots[at]?.name);
    if (!widget) continue;
    const value = widget.value ?? settingsOf(widget.raw).default;
    return {
      kind: "value",
      value,
      home: valueLocationOf(node, widget),
      isRaw: true,
      source,
      hasControl: isControlled(widget.name, widget.raw),
    };
  }
  return undefined;
}

const startsOf = memoize(({ inputs, links, nodes }: Definition) => {
  const targets = new Map(nodes.flatMap((node) => node.inputs.map(({ link }) => [link, node] as const)).reverse());
  const linksFromInput = inputs.map(() => new Set<string>());
  for (const [id, { origin, originSlot }] of links) if (origin === INSIDE_START) linksFromInput[originSlot]?.add(id);
  return inputs.map((port, at) => {
    const named = port.links.filter((id) => linksFromInput[at]?.has(id));
    return [...new Set([...named, ...(linksFromInput[at] ?? [])])].flatMap((link) => {
      const node = targets.get(link);
      return node ? [{ link, node }] : [];
    });
  });
});

const placeByLink = memoize((slots: readonly Slot[]) => new Map(slots.map(({ link }, at) => [link, at] as const).reverse()));

/** Values stored by name after a failed repair, else by place in `proxyWidgets` (older editors), else one per input in order. */
function ownValue(
  use: Use,
  inside: Scope,
  { input, shown }: { input: number; shown: InnerValue },
  following: LinkContext,
): Value | undefined {
  const { node, definition, scope } = use;
  const port = definition.inputs[input]?.name ?? "";
  const valueIndex = placesOfAll(use, inside, following).get(input) ?? -1;
  const quarantinedValue = quarantinedValues(node).get(port);
  if (quarantinedValue !== undefined) {
    return {
      kind: "value",
      value: quarantinedValue,
      home: { ...valueLocationOf(node, { key: valueIndex }), storedName: port },
      isRaw: true,
    };
  }
  const proxied = proxiedValue(node, [`-1 ${port}`, shown.source]) ?? valueOfHost({ scope, node }, port);
  if (proxied || placesOfProxies(node).size > 0) return proxied;
  const key = isObject(node.values) ? port : valueIndex;
  const value = isObject(node.values) ? own(node.values, port) : node.values[valueIndex];
  return value === undefined || value === null ? undefined : { kind: "value", value, home: valueLocationOf(node, { key }), isRaw: true };
}

function proxiedValue(node: EditorNode, widgets: readonly string[]): Value | undefined {
  for (const widget of widgets) {
    const key = placesOfProxies(node).get(widget) ?? -1;
    const value = listOf(node.values)[key];
    if (value !== undefined && value !== null) return { kind: "value", value, home: valueLocationOf(node, { key }), isRaw: true };
  }
  return undefined;
}

/** "-1" is an input of the subgraph itself. */
const placesOfProxies = memoize(({ properties: { proxyWidgets } }: EditorNode): ReadonlyMap<string, number> => {
  const listed = parseEntries(proxyWidgets).map(listOf);
  return new Map(listed.map(([id, name], at) => [`${toIdText(id)} ${String(name)}`, at] as const).reverse());
});

const quarantinedValues = memoize(({ properties: { proxyWidgetErrorQuarantine } }: EditorNode): ReadonlyMap<unknown, unknown> => {
  const namedValues = parseEntries(proxyWidgetErrorQuarantine).flatMap((entry) => {
    const { originalEntry, hostValue } = isObject(entry) ? entry : {};
    const [id, name] = listOf(originalEntry);
    return id === "-1" && hostValue !== undefined && hostValue !== null ? [[name, hostValue] as const] : [];
  });
  return new Map(namedValues.reverse());
});

function placesOfAll(use: Use, inside: Scope, following: LinkContext): ReadonlyMap<number, number> {
  const cache = placesFound(following);
  const key = idIn(use.scope, use.node);
  const places = cache.get(key) ?? findPlacesOfAll(use, inside, following);
  cache.set(key, places);
  return places;
}

/** If the list is longer than the inputs, each control_after_generate has a value too. */
function findPlacesOfAll(use: Use, inside: Scope, following: LinkContext): ReadonlyMap<number, number> {
  const widgetInputs = use.definition.inputs.flatMap((_, input) => {
    const inner = innerValue(use, inside, input, following);
    return inner ? [{ input, hasControl: inner.hasControl }] : [];
  });
  const hasControls = listOf(use.node.values).length > widgetInputs.length;
  let position = 0;
  return new Map(
    widgetInputs.map(({ input, hasControl }) => {
      const at = position;
      position += hasControls && hasControl ? 2 : 1;
      return [input, at];
    }),
  );
}
