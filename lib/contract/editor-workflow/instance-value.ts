// The value that a subgraph node sends for an unlinked input. Stops at recursive definitions.

import { getOwn, isObject } from "../json/json";
import { getSettings } from "../nodes/input-spec";
import { asArray, type Definition, type EditorNode, INSIDE_START, memoize, parseEntries, type Slot, toIdText } from "./file";
import { getSlots, getWidgets, type LinkContext, type NodeLocation, type Scope, type SubgraphInstance, toGraphId } from "./slots";
import { getValueLocation, hasControl, type ValueLocation } from "./values";

/** `valueLocation`: where the file stores the value. `isRaw`: from a subgraph widget, whose strings are sent unchanged. */
export type Value = { kind: "value"; value: unknown; valueLocation: ValueLocation; isRaw?: boolean };
type InnerValue = Value & { source: string; hasControl: boolean };

const getValueCache = memoize<LinkContext, Map<string, InnerValue | undefined>>(() => new Map());
const getIndexCache = memoize<LinkContext, Map<string, ReadonlyMap<number, number>>>(() => new Map());

/** The node's own value takes precedence over the inner widget's value. */
export function getInstanceValue(
  instance: SubgraphInstance,
  innerScope: Scope,
  input: number,
  context: LinkContext,
): InnerValue | undefined {
  const cache = getValueCache(context);
  const key = `${toGraphId(instance.scope, instance.node)} ${input}`;
  if (cache.has(key)) return cache.get(key);
  // Undefined while it is computed, because a definition may contain itself.
  cache.set(key, undefined);
  const inner = findInnerValue(instance, innerScope, input, context);
  const value = inner && { ...inner, ...getOwnValue(instance, innerScope, { input, inner }, context) };
  cache.set(key, value);
  return value;
}

export function getHostValue({ scope: { instance }, node }: NodeLocation, widget: string): Value | undefined {
  return instance && getProxiedValue(instance.node, [toSourceKey(node, widget)]);
}

function toSourceKey({ raw }: EditorNode, widget: string): string {
  return `${toIdText(raw.id)} ${widget}`;
}

function findInnerValue({ definition }: SubgraphInstance, innerScope: Scope, input: number, context: LinkContext): InnerValue | undefined {
  for (const { link, node } of getInputTargets(definition)[input] ?? []) {
    const location = { scope: innerScope, node };
    const subgraph = context.enterNode(location);
    const slots = getSlots(location, context);
    const slotIndex = getIndexByLink(slots).get(link) ?? -1;
    const source = toSourceKey(node, slots[slotIndex]?.name ?? "");
    const innerInstanceValue =
      subgraph && slotIndex >= 0 && getInstanceValue({ ...location, definition: subgraph.definition }, subgraph.scope, slotIndex, context);
    if (innerInstanceValue) return { ...innerInstanceValue, source };
    const nodeInfo = getOwn(context.info, node.type);
    const widget = nodeInfo && getWidgets(node, nodeInfo, context).find(({ name }) => name === slots[slotIndex]?.name);
    if (!widget) continue;
    const value = widget.value ?? getSettings(widget.raw).default;
    return {
      kind: "value",
      value,
      valueLocation: getValueLocation(node, widget),
      isRaw: true,
      source,
      hasControl: hasControl(widget.name, widget.raw),
    };
  }
  return undefined;
}

const getInputTargets = memoize(({ inputs, links, nodes }: Definition) => {
  const targets = new Map(nodes.flatMap((node) => node.inputs.map(({ link }) => [link, node] as const)).reverse());
  const linksFromInput = inputs.map(() => new Set<string>());
  for (const [id, { origin, originSlot }] of links) if (origin === INSIDE_START) linksFromInput[originSlot]?.add(id);
  return inputs.map((port, index) => {
    const portLinks = port.links.filter((id) => linksFromInput[index]?.has(id));
    return [...new Set([...portLinks, ...(linksFromInput[index] ?? [])])].flatMap((link) => {
      const node = targets.get(link);
      return node ? [{ link, node }] : [];
    });
  });
});

const getIndexByLink = memoize((slots: readonly Slot[]) => new Map(slots.map(({ link }, index) => [link, index] as const).reverse()));

/** Looks in the quarantine of a failed repair by name, then in `proxyWidgets` by index (older editors), then by input order. */
function getOwnValue(
  instance: SubgraphInstance,
  innerScope: Scope,
  { input, inner }: { input: number; inner: InnerValue },
  context: LinkContext,
): Value | undefined {
  const { node, definition, scope } = instance;
  const port = definition.inputs[input]?.name ?? "";
  const valueIndex = getValueIndexes(instance, innerScope, context).get(input) ?? -1;
  const quarantinedValue = getQuarantinedValues(node).get(port);
  if (quarantinedValue !== undefined) {
    return {
      kind: "value",
      value: quarantinedValue,
      valueLocation: { ...getValueLocation(node, { key: valueIndex }), storedName: port },
      isRaw: true,
    };
  }
  const proxiedValue = getProxiedValue(node, [`-1 ${port}`, inner.source]) ?? getHostValue({ scope, node }, port);
  if (proxiedValue || getProxyIndexes(node).size > 0) return proxiedValue;
  const key = isObject(node.values) ? port : valueIndex;
  const value = isObject(node.values) ? getOwn(node.values, port) : node.values[valueIndex];
  return value === undefined || value === null
    ? undefined
    : { kind: "value", value, valueLocation: getValueLocation(node, { key }), isRaw: true };
}

function getProxiedValue(node: EditorNode, widgets: readonly string[]): Value | undefined {
  for (const widget of widgets) {
    const key = getProxyIndexes(node).get(widget) ?? -1;
    const value = asArray(node.values)[key];
    if (value !== undefined && value !== null) return { kind: "value", value, valueLocation: getValueLocation(node, { key }), isRaw: true };
  }
  return undefined;
}

/** The id "-1" refers to an input of the subgraph itself. */
const getProxyIndexes = memoize(({ properties: { proxyWidgets } }: EditorNode): ReadonlyMap<string, number> => {
  const proxyEntries = parseEntries(proxyWidgets).map(asArray);
  return new Map(proxyEntries.map(([id, name], index) => [`${toIdText(id)} ${String(name)}`, index] as const).reverse());
});

const getQuarantinedValues = memoize(({ properties: { proxyWidgetErrorQuarantine } }: EditorNode): ReadonlyMap<unknown, unknown> => {
  const namedValues = parseEntries(proxyWidgetErrorQuarantine).flatMap((entry) => {
    const { originalEntry, hostValue } = isObject(entry) ? entry : {};
    const [id, name] = asArray(originalEntry);
    return id === "-1" && hostValue !== undefined && hostValue !== null ? [[name, hostValue] as const] : [];
  });
  return new Map(namedValues.reverse());
});

function getValueIndexes(instance: SubgraphInstance, innerScope: Scope, context: LinkContext): ReadonlyMap<number, number> {
  const cache = getIndexCache(context);
  const key = toGraphId(instance.scope, instance.node);
  const indexes = cache.get(key) ?? findValueIndexes(instance, innerScope, context);
  cache.set(key, indexes);
  return indexes;
}

/** If there are more values than inputs, each control_after_generate widget has a value too. */
function findValueIndexes(instance: SubgraphInstance, innerScope: Scope, context: LinkContext): ReadonlyMap<number, number> {
  const widgetInputs = instance.definition.inputs.flatMap((_, input) => {
    const inner = findInnerValue(instance, innerScope, input, context);
    return inner ? [{ input, hasControl: inner.hasControl }] : [];
  });
  const storesControlValues = asArray(instance.node.values).length > widgetInputs.length;
  let position = 0;
  return new Map(
    widgetInputs.map(({ input, hasControl }) => {
      const index = position;
      position += storesControlValues && hasControl ? 2 : 1;
      return [input, index];
    }),
  );
}
