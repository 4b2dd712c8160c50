// Which inputs of the graph a widget in the editor's drawing sets: its own, or those that a subgraph or a primitive node hands it to.
// Guarantees: pure; never throws; ends on loops; bounded; each place is listed once. The graph need not have it.

import { parseJson } from "../json/json";
import { type EditorFile, type EditorNode, INSIDE_START, listOf, type Net, nodesById } from "./file";
import { isPrimitive } from "./node-kinds";

export type WidgetPlace = { node: string; input: string };

const DEEPEST = 50;
const MOST_PLACES = 100;
/** A subgraph may hold itself twice: the search would never end, even without finding a place. */
const MOST_LOOKED = 2_000;

export function placesOfWidget(file: EditorFile, node: string, widget: string): WidgetPlace[] {
  const found = new Map<string, WidgetPlace>();
  let looked = 0;

  function look({ net, path, depth }: { net: Net; path: string; depth: number }, id: string, name: string): void {
    if (depth > DEEPEST || found.size >= MOST_PLACES || ++looked > MOST_LOOKED) return;
    const shown = nodesById(net).get(id);
    if (!shown) return;
    const definition = file.definitions.get(shown.type);
    if (isPrimitive(shown)) return handed({ net, path, depth }, linksFrom(net, id, undefined));
    if (!definition) return void found.set(`${path}${id}\n${name}`, { node: path + id, input: name });
    const inside = { net: definition, path: `${path}${id}:`, depth: depth + 1 };
    const port = definition.inputs.findIndex((one) => one.name === name);
    if (port >= 0) return handed(inside, linksFrom(definition, INSIDE_START, port));
    const inner = proxiesOf(shown).find(([innerId, innerName]) => innerName === name && innerId !== "-1")?.[0];
    if (typeof inner === "string") look(inside, definition.renumbered?.get(inner) ?? inner, name);
  }

  function handed(scope: Parameters<typeof look>[0], links: readonly string[]): void {
    const wanted = new Set(links);
    for (const { id, inputs } of scope.net.nodes)
      for (const { link, name, widget: ofWidget = name } of inputs)
        if (link !== undefined && wanted.has(link)) look({ ...scope, depth: scope.depth + 1 }, id, ofWidget);
  }

  for (const { net, path, id } of boxesOf(file, node)) look({ net, path, depth: path === "" ? 0 : 1 }, id, widget);
  return [...found.values()];
}

/** The name that a use of a subgraph gives to a widget inside; undefined if it is the widget's own name, or that with a number appended. */
export function nameOutside(file: EditorFile, node: string, widget: string, inner: string): string | undefined {
  const uses = boxesOf(file, node).flatMap(({ net, id }) => file.definitions.get(nodesById(net).get(id)?.type ?? "") ?? []);
  const port = uses.flatMap(({ inputs }) => inputs).find(({ name }) => name === widget);
  return port?.label ?? (port?.name.replace(/_\d+$/, "") === inner ? undefined : port?.name);
}

/** Where the file draws a node with this id: outside, else in each use of the subgraph that has it (App mode gives only the inner id). */
export function boxesOf(file: EditorFile, id: string): { net: Net; path: string; id: string }[] {
  if (nodesById(file).has(id)) return [{ net: file, path: "", id }];
  return file.nodes.flatMap((use) => {
    const net = file.definitions.get(use.type);
    const inner = net?.renumbered?.get(id) ?? id;
    return net && nodesById(net).has(inner) ? [{ net, path: `${use.id}:`, id: inner }] : [];
  });
}

function linksFrom({ links }: Net, origin: string, slot: number | undefined): string[] {
  return [...links].flatMap(([id, link]) => (link.origin === origin && (slot === undefined || link.originSlot === slot) ? [id] : []));
}

/** Inner widgets that a use shows without a link. */
function proxiesOf({ properties: { proxyWidgets } }: EditorNode): (readonly unknown[])[] {
  return listOf(typeof proxyWidgets === "string" ? parseJson(proxyWidgets) : proxyWidgets).map(listOf);
}
